"""A worker that is alive and does nothing is named by `/readyz`; one that is busy is not."""

from __future__ import annotations

import json
import signal
from time import monotonic, sleep

import pytest
from django.core.cache import cache
from django.test import Client

from memgov import heartbeat
from memory.tasks import dispatch_sweep
from tests.sweeps.planting import Plot
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")


def _missing() -> list[str]:
    answer = Client().get("/readyz")
    return json.loads(answer.content).get("missing", [])


def _alive(within: float) -> bool:
    end = monotonic() + within
    while monotonic() < end:
        if heartbeat.lives(heartbeat.WORKER):
            return True
        sleep(0.2)
    return False


def test_worker__frozen__named_within_its_time_and_back_when_it_goes_on() -> None:
    cache.delete("heartbeat:worker")
    with worker() as process:
        assert _alive(within=10)
        process.send(signal.SIGSTOP)
        began = monotonic()
        while "worker" not in _missing():
            assert monotonic() - began < heartbeat.LIFE_SECONDS[heartbeat.WORKER] + 2
            sleep(0.5)
        process.send(signal.SIGCONT)
        assert _alive(within=15)


def test_worker__busy__never_named() -> None:
    Plot()
    cache.delete("heartbeat:worker")
    with worker() as process:
        assert _alive(within=10)
        for _ in range(150):
            dispatch_sweep.delay("dedup")
        least, end = heartbeat.LIFE_SECONDS[heartbeat.WORKER], monotonic() + 15
        while monotonic() < end:
            assert "worker" not in _missing()
            least = min(least, cache.ttl("heartbeat:worker"))
            sleep(0.5)
        process.until("succeeded")
    assert least >= heartbeat.LIFE_SECONDS[heartbeat.WORKER] / 2, "half of its life had gone at the worst"

"""Rate limits of the tenant's policy."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import redis

from memgov import clock
from memory.api import throttling
from memory.domain.policy import Policy
from memory.domain.policy_write_rules import RateLimits
from memory.models import Memory
from tests.api.caller import Caller, assert_problem
from tests.factories import make_agent, make_tenant

BODY = {"content": "Alpha is deployed by the robot of team 7.", "scope": "project:alpha"}


def limited(**limits: int) -> Any:
    return make_tenant(policy=Policy(rate_limits=RateLimits(**limits)))


@pytest.fixture
def minute(database: None) -> Any:
    """The same instant for a whole test: a window must not turn in the middle of it."""
    with clock.moved_to(clock.now().replace(second=20)) as moved:
        yield moved


def test_writes__above_the_keys_limit__are_429_and_stored_nowhere(minute: Any) -> None:
    stage = limited(writes_per_minute_key=2)
    coder = Caller(stage.coder)
    first = coder.post("memories", BODY)
    assert first["RateLimit"] == '"writes";r=1;t=40' and first["RateLimit-Policy"] == '"writes";q=2;w=60'
    coder.post("memories/check", BODY)  # a read
    coder.post("memories", {**BODY, "content": "ok"})
    response = coder.post("memories", {**BODY, "content": "Beta is deployed by the robot of team 9."})
    assert_problem(response, 429, "rate_limited")
    assert response["Retry-After"] == "40" and response["RateLimit"] == '"writes";r=0;t=40'
    with stage.context():
        assert Memory.objects.count() == 1
    assert coder.get("memories").status_code == 200
    colleague = Caller(make_agent(stage.tenant, "coder", ["project:alpha=rw"]))
    assert colleague.post("memories", BODY).status_code == 200


def test_batch__costs_as_many_as_it_holds(minute: Any) -> None:
    stage = limited(writes_per_minute_key=5)
    coder = Caller(stage.coder)
    assert_problem(coder.post("memories/batch", {"items": [BODY] * 6}), 429, "rate_limited")
    with stage.context():
        assert not Memory.objects.exists()


def test_tenant__over_its_limit__stops_all_its_keys_and_no_other_tenant(minute: Any) -> None:
    stage, other = limited(requests_per_minute_tenant=3), make_tenant()
    for machine in (stage.coder, stage.orchestrator, stage.coder):
        assert Caller(machine).get("whoami").status_code == 200
    assert_problem(Caller(stage.orchestrator).get("whoami"), 429, "rate_limited")
    assert Caller(other.coder).get("whoami").status_code == 200


def test_window__over__allows_again() -> None:
    stage = limited(reads_per_minute_key=1)
    coder = Caller(stage.coder)
    start = clock.now().replace(second=0)
    with clock.moved_to(start):
        assert coder.get("whoami").status_code == 200
        assert coder.get("whoami").status_code == 429
    with clock.moved_to(start.replace(second=59)):
        assert coder.get("whoami")["Retry-After"] == "1"


def test_redis__away__allows_and_sends_no_figures(monkeypatch: pytest.MonkeyPatch, coder: Caller) -> None:
    gone = redis.Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=0.2)
    monkeypatch.setattr(throttling, "_redis", lambda: gone)
    response = coder.post("memories", BODY)
    assert response.status_code in (200, 201) and "RateLimit" not in response


def test_redis__started_anew__counts_on(coder: Caller) -> None:
    server = throttling._redis()
    for forget in (
        server.script_flush,
        lambda: server.client_kill_filter(_id=str(server.client_id()), skipme=False),
    ):
        assert "RateLimit" in coder.post("memories/check", BODY)
        with contextlib.suppress(redis.RedisError):
            forget()
        assert "RateLimit" in coder.post("memories/check", BODY)

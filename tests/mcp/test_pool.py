"""The threads behind the tools: bounded, cancelled before they begin and never in the middle, closed at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from django.db import connection, connections

from memory.api.problems import ProblemError
from memory.mcp import pool as pools
from memory.mcp.pool import Pool
from tests import loops
from tests.launcher.launched import wait_until


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Holds work back until it is set."""
    event = threading.Event()
    yield event
    event.set()


def test_more_than_can_wait__busy_and_then_served_again(gate: threading.Event) -> None:
    pool = Pool(threads=1, most_waiting=1)

    async def crowd() -> list[object]:
        held = [asyncio.create_task(pool.run(gate.wait)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(ProblemError) as refused:
            await pool.run(lambda: True)
        assert refused.value.problem.code == "busy" and refused.value.problem.headers["Retry-After"] == "1"
        gate.set()
        return [await one for one in held] + [await pool.run(lambda: "again")]

    assert loops.run(crowd()) == [True, True, "again"]
    pool.close()


def test_cancelled__what_waits_is_not_begun_what_runs_is_finished(gate: threading.Event) -> None:
    pool, done = Pool(threads=1), []

    def work(name: str) -> None:
        gate.wait()
        done.append(name)

    async def impatient() -> None:
        running, waiting = (asyncio.create_task(pool.run(lambda name=name: work(name))) for name in "ab")
        await asyncio.sleep(0.05)
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        gate.set()
        assert await pool.run(lambda: "next") == "next"

    loops.run(impatient())
    pool.close()
    assert done == ["a"]


def test_too_long__says_how_to_repeat(gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "PATIENCE_SECONDS", 0.05)
    pool = Pool(threads=1)
    with pytest.raises(ProblemError) as late:
        loops.run(pool.run(gate.wait))
    assert late.value.problem.code == "no_answer_in_time" and "idempotency_key" in late.value.problem.detail
    gate.set()
    pool.close()


def test_close__no_connection_is_left(database: None) -> None:
    pool, backends = Pool(threads=3), set()
    meeting = threading.Barrier(3)

    def backend() -> None:
        meeting.wait()  # each thread once
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backends.add(cursor.fetchone()[0])

    async def all_threads() -> None:
        await asyncio.gather(*(pool.run(backend) for _ in range(3)))

    loops.run(all_threads())
    assert len(backends) == 3
    pool.close()
    # A backend ends a moment after its client.
    wait_until(lambda: _alive(backends) == 0, 10, "the connections of the threads to end")


def _alive(backends: set[int]) -> int:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [list(backends)])
        return int(cursor.fetchone()[0])

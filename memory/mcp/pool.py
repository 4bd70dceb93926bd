"""Where the work of a call is done: a fixed number of threads, each with a database connection that it keeps.

The protocol is asynchronous and the product is not.  What is cancelled before it began is not begun; what has begun
is finished, because a write is whole or not there, and its idempotency key leads back to it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections, connections

from memory.api.problems import Problem, ProblemError

T = TypeVar("T")

THREADS = 8
MOST_WAITING = 64
PATIENCE_SECONDS = 60.0


class Pool:
    """Threads that run services.  `run` from the event loop, `close` once at the end."""

    def __init__(self, threads: int = THREADS, most_waiting: int = MOST_WAITING) -> None:
        self._threads = threads
        self._most = threads + most_waiting
        self._inside = 0
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="mcp")

    async def run(self, work: Callable[[], T]) -> T:
        """The result of the work.  Raises 503 problems when too much is waiting or it takes too long."""
        if self._inside >= self._most:
            detail = "too many calls are waiting; nothing was done, try again"
            raise ProblemError(Problem(503, "busy", detail, headers={"Retry-After": "1"}))
        self._inside += 1
        future = self._executor.submit(_with_connection, work)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._left))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), PATIENCE_SECONDS)
        except TimeoutError:
            detail = f"no answer within {PATIENCE_SECONDS:.0f} s; repeat a write with its idempotency_key"
            raise ProblemError(Problem(503, "no_answer_in_time", detail)) from None

    def close(self) -> None:
        """Let what runs end, and close every thread's connection."""
        meeting = threading.Barrier(self._threads)
        for _ in range(self._threads):
            self._executor.submit(_leave, meeting)
        self._executor.shutdown(wait=True)

    def _left(self) -> None:
        self._inside -= 1


def _with_connection(work: Callable[[], T]) -> T:
    close_old_connections()  # one that broke, or is too old, is not used again
    try:
        return work()
    finally:
        close_old_connections()


def _leave(meeting: threading.Barrier) -> None:
    """Each thread once: none comes past here before all have come."""
    try:
        meeting.wait(timeout=5)
    except threading.BrokenBarrierError:
        pass
    finally:
        connections.close_all()

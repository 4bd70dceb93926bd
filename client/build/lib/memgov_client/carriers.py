"""Doing what an exchange says, blocking or awaiting.  All that differs between the two clients is here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar

import httpx

from memgov_client.binding import cursor_of
from memgov_client.call import Call
from memgov_client.calls import watching
from memgov_client.errors import LostError, MemgovError
from memgov_client.exchange import Lost, Reply, Send, Wait, exchange
from memgov_client.models import Job, Page
from memgov_client.plans import Plan, Turn
from memgov_client.retrying import RetryPolicy
from memgov_client.settings import DEFAULT_TIMEOUT, Connection, connection
from memgov_client.tracing import span

T = TypeVar("T")

_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Carrier:
    """What both have: where to, as whom, and how patiently."""

    def __init__(self, connection: Connection, retries: RetryPolicy) -> None:
        self.connection = connection
        self.retries = retries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.connection.url!r})"


class SyncCarrier(Carrier):
    """Carries out calls and waits for them."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT,
        retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(connection(url, key), retries)
        self.http = httpx.Client(**_options(self.connection, timeout), transport=transport)

    def run(self, call: Call[T]) -> T:
        """Carry out any call.  Raises `MemgovError`."""
        tries: list[int] = []
        with span(call, self.connection.url, tries):
            steps = exchange(call, self.retries, tries)
            came: Reply | Lost | None = None
            while True:
                try:
                    step = steps.send(came)
                except StopIteration as done:
                    result: T = done.value
                    return result
                came = self._do(step)

    def follow(self, plan: Plan[T]) -> T:
        """Carry out a plan: several calls, of which the later ones depend on what came of the earlier ones."""
        turn = Turn(plan)
        while (call := turn.next()) is not None:
            try:
                turn.came = self.run(call)
            except MemgovError as error:
                turn.failed = error
        return turn.result

    def walk(self, make: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        """The rows of all pages, in order."""
        cursor: str | None = None
        while True:
            page = self.run(make(cursor))
            yield from page.results
            cursor = cursor_of(page.next)
            if cursor is None:
                return

    def wait_for_job(self, job_id: str, *, seconds: float = 60.0, every: float = 0.5) -> Job:
        """Follow a job until it has ended.  LostError when it has not within as many seconds."""
        end = time.monotonic() + seconds
        while not (found := self.run(watching.job(job_id))).ended:
            if time.monotonic() + every > end:
                raise _not_ended(found, seconds)
            time.sleep(every)
        return found

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def _do(self, step: Send | Wait) -> Reply | Lost | None:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            return None
        try:
            answer = self.http.request(**_request(step))
        except httpx.TransportError as error:
            return _lost(error)
        return _reply(answer)


class AsyncCarrier(Carrier):
    """Carries out calls and lets others run meanwhile."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT,
        retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(connection(url, key), retries)
        self.http = httpx.AsyncClient(**_options(self.connection, timeout), transport=transport)

    async def run(self, call: Call[T]) -> T:
        """Carry out any call.  Raises `MemgovError`."""
        tries: list[int] = []
        with span(call, self.connection.url, tries):
            steps = exchange(call, self.retries, tries)
            came: Reply | Lost | None = None
            while True:
                try:
                    step = steps.send(came)
                except StopIteration as done:
                    result: T = done.value
                    return result
                came = await self._do(step)

    async def follow(self, plan: Plan[T]) -> T:
        """Carry out a plan: several calls, of which the later ones depend on what came of the earlier ones."""
        turn = Turn(plan)
        while (call := turn.next()) is not None:
            try:
                turn.came = await self.run(call)
            except MemgovError as error:
                turn.failed = error
        return turn.result

    async def walk(self, make: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        """The rows of all pages, in order."""
        cursor: str | None = None
        while True:
            page = await self.run(make(cursor))
            for row in page.results:
                yield row
            cursor = cursor_of(page.next)
            if cursor is None:
                return

    async def wait_for_job(self, job_id: str, *, seconds: float = 60.0, every: float = 0.5) -> Job:
        """Follow a job until it has ended.  LostError when it has not within as many seconds."""
        end = time.monotonic() + seconds
        while not (found := await self.run(watching.job(job_id))).ended:
            if time.monotonic() + every > end:
                raise _not_ended(found, seconds)
            await asyncio.sleep(every)
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def _do(self, step: Send | Wait) -> Reply | Lost | None:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            return None
        try:
            answer = await self.http.request(**_request(step))
        except httpx.TransportError as error:
            return _lost(error)
        return _reply(answer)


def _options(connection: Connection, timeout: float | httpx.Timeout) -> dict[str, Any]:
    """Redirects are not followed: they would carry the key wherever they point."""
    return {
        "base_url": connection.base_url,
        "headers": connection.headers,
        "timeout": timeout,
        "follow_redirects": False,
    }


def _request(send: Send) -> dict[str, Any]:
    return {
        "method": send.method,
        "url": send.path,
        "params": dict(send.params) or None,
        "headers": dict(send.headers),
        "content": send.content,
    }


def _reply(answer: httpx.Response) -> Reply:
    return Reply(
        answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, answer.content
    )


def _lost(error: httpx.TransportError) -> Lost:
    return Lost(f"{type(error).__name__}: {error}".rstrip(": "), isinstance(error, _UNSENT))


def _not_ended(job: Job, seconds: float) -> LostError:
    return LostError(
        f"the job {job.id} is still {job.status} after {seconds:g} s ({job.done} of {job.total})"
    )

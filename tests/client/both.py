"""The two clients behind one face, so that every test runs with both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from memgov_client import AsyncClient, Client


class Driven:
    """Calls of a client, carried out to their end; lists as lists.

    Its loop lives in a thread of its own, for the browser of another test may have one in this thread (see `loops`).
    """

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client = client
        self.loop = asyncio.new_event_loop()
        self.thread = ThreadPoolExecutor(1)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            came = method(*args, **kwargs)
            if inspect.isawaitable(came):
                return self._done(_awaited(came))
            if isinstance(came, AsyncIterator):
                return self._done(_collected(came))
            return list(came) if inspect.isgenerator(came) else came

        return called

    def close(self) -> None:
        """Close the client and its loop."""
        came = self.client.close()
        if inspect.isawaitable(came):
            self._done(_awaited(came))
        self.loop.close()
        self.thread.shutdown()

    def _done(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.thread.submit(self.loop.run_until_complete, coroutine).result()


async def _awaited(came: Any) -> Any:
    return await came


async def _collected(rows: AsyncIterator[Any]) -> list[Any]:
    return [row async for row in rows]


def driven(which: str, url: str, key: str, **options: Any) -> Driven:
    """The `waiting` client or the `awaited` one."""
    return Driven((Client if which == "waiting" else AsyncClient)(url, key, **options))

"""The two clients behind one face, so that every test runs with both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any

from memgov_client import AsyncClient, Client


class Driven:
    """Calls of a client, carried out to their end; lists as lists."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client = client
        self.loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            came = method(*args, **kwargs)
            if inspect.isawaitable(came):
                return self.loop.run_until_complete(_awaited(came))
            if isinstance(came, AsyncIterator):
                return self.loop.run_until_complete(_collected(came))
            return list(came) if inspect.isgenerator(came) else came

        return called

    def close(self) -> None:
        """Close the client and its loop."""
        came = self.client.close()
        if inspect.isawaitable(came):
            self.loop.run_until_complete(_awaited(came))
        self.loop.close()


async def _awaited(came: Any) -> Any:
    return await came


async def _collected(rows: AsyncIterator[Any]) -> list[Any]:
    return [row async for row in rows]


def driven(which: str, url: str, key: str, **options: Any) -> Driven:
    """The `waiting` client or the `awaited` one."""
    return Driven((Client if which == "waiting" else AsyncClient)(url, key, **options))

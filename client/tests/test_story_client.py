"""The story through both clients alone, on the oldest Python that the client runs on."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import story
from conftest import Tenant

import memgov_client
from memgov_client import AsyncClient, Client, RefusedError

WHERE: dict[str, Any] = {"scope": story.SCOPE, "origin": story.ORIGIN, "session": story.SESSION}
FOREIGN = ("anthropic", "langgraph", "google", "crewai", "opentelemetry")


class Waiting:
    """An agent with the client that waits."""

    def __init__(self, tenant: Tenant) -> None:
        self.client: Client = tenant.client()

    def learn(self, name: str, text: str) -> None:
        try:
            self.client.write(text, **WHERE)
        except RefusedError as error:
            assert error.code == "too_vague", error

    def ask(self, question: str) -> list[str]:
        return [entry.content for entry in self._entries(question)]

    def forget(self, name: str, text: str) -> None:
        (wrong,) = [entry for entry in self._entries(text) if entry.content == text]
        self.client.delete(wrong.id, "it was wrong")

    def _entries(self, query: str) -> list[Any]:
        return list(self.client.retrieve(query, scopes=[story.SCOPE]).entries)


class Awaited(Waiting):
    """An agent with the client that is awaited, a loop for each call."""

    def __init__(self, tenant: Tenant) -> None:
        self.client = _Looped(tenant.async_client)  # type: ignore[assignment]


class _Looped:
    """Each call of an awaited client in a loop of its own, with a client of its own."""

    def __init__(self, opened: Callable[[], AsyncClient]) -> None:
        self._opened = opened

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            async def once() -> Any:
                async with self._opened() as client:
                    return await getattr(client, name)(*args, **kwargs)

            made: Coroutine[Any, Any, Any] = once()
            return asyncio.run(made)

        return call


@pytest.mark.parametrize("way", [Waiting, Awaited])
def test_story__ends_in_the_same_state(way: Callable[[Tenant], story.Teller], tenant: Tenant) -> None:
    story.assert_told(story.tell(way(tenant)), tenant.rows())


def test_python__is_the_oldest() -> None:
    assert sys.version_info[:2] == (3, 10)


def test_modules__each_is_read_by_this_python() -> None:
    for module in pkgutil.walk_packages(memgov_client.__path__, "memgov_client."):
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # of a framework that is not installed here, and nothing else
            assert (error.name or "").split(".")[0] in FOREIGN, error

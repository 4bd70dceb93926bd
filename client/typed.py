"""Checked by mypy, never run: what a type checker sees of the two clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

from typing_extensions import assert_type

from memgov_client import AsyncClient, Client
from memgov_client.models import Digest, Memory, Outcome


def waiting(client: Client) -> None:
    """A `Client` answers."""
    assert_type(client.write("a", scope="shared"), Outcome)
    assert_type(client.digest("shared"), Digest | None)
    assert_type(client.memories(page_size=2), Iterator[Memory])
    client.write("a", scop="shared")  # type: ignore[call-arg]
    client.delete("mem_1")  # type: ignore[call-arg]


async def awaited(client: AsyncClient) -> None:
    """An `AsyncClient` has to be awaited."""
    to_come = client.write("a")
    _ = assert_type(to_come, Coroutine[Any, Any, Outcome])
    assert_type(await to_come, Outcome)
    assert_type(client.memories(), AsyncIterator[Memory])

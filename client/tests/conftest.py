"""Tests that run where the frameworks are installed, against a memgov that somebody else has started.

`MEMGOV_TEST_STAGE` is the address of a small server that makes a fresh tenant and shows its rows. The suite of the
server starts it and these tests (`tests/client/test_adapters.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memgov_client import AsyncClient, Client


class Tenant:
    """A fresh tenant: keys of its agents, and what stands in its tables."""

    def __init__(self, stage: httpx.Client) -> None:
        self._stage = stage
        made = stage.post("/tenant").json()
        self.url, self.slug, self.keys = made["url"], made["slug"], made["keys"]

    def client(self, agent: str = "coder") -> Client:
        """A client of one of its agents."""
        return Client(self.url, self.keys[agent])

    def async_client(self, agent: str = "coder") -> AsyncClient:
        """The same, to be awaited."""
        return AsyncClient(self.url, self.keys[agent])

    def rows(self, status: str | None = None) -> list[dict[str, Any]]:
        """Its memories as they are stored, oldest first."""
        found: list[dict[str, Any]] = self._stage.get("/rows", params={"slug": self.slug}).json()
        return [row for row in found if status in (None, row["status"])]

    def release(self, memory_id: str) -> None:
        """A reviewer lets a held memory in."""
        self._stage.post("/release", params={"slug": self.slug, "memory": memory_id}).raise_for_status()

    def edit(self, memory_id: str, content: str) -> None:
        """A reviewer changes what a memory says."""
        params = {"slug": self.slug, "memory": memory_id, "content": content}
        self._stage.post("/edit", params=params).raise_for_status()


@pytest.fixture
def tenant() -> Iterator[Tenant]:
    """A fresh tenant, whose coder reads and writes `project:alpha`, `user:*` and `agent:coder`."""
    with httpx.Client(base_url=os.environ["MEMGOV_TEST_STAGE"], timeout=60) as stage:
        yield Tenant(stage)


@pytest.fixture
def client(tenant: Tenant) -> Iterator[Client]:
    """The coder's client."""
    with tenant.client() as opened:
        yield opened

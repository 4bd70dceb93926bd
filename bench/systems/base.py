"""What a measured system can do, and how systems are found by name.

A system's module is imported only in the process that uses it: peers live in environments of their own.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, TypedDict

from bench.workload import Fact

NAMES = ("floor", "drf", "memgov")
PEERS = ("mem0", "langgraph")


class Places(TypedDict, total=False):
    """Where the systems of a run are: a superuser's database URL with `{db}` in it, addresses, a key, a folder."""

    database: str
    drf: str
    memgov: str
    key: str
    folder: str


class Digests(Protocol):
    """A store that gives the text that a prompt starts with."""

    def digest(self, user: str) -> str:
        """The most important of a user's memories as one bounded text."""


class System(Protocol):
    """One store as one caller sees it."""

    def prepare(self) -> None:
        """Make what is needed, once, before any caller attaches."""

    def attach(self) -> None:
        """Connect this caller."""

    def write(self, fact: Fact) -> str:
        """Store one memory; what became of it, in one word.  Raises when it was not answered properly."""

    def search(self, user: str, query: str, limit: int) -> list[str]:
        """The texts that a user's question finds, best first."""

    def fill(self, facts: Sequence[Fact]) -> None:
        """Store many memories as fast as the system allows; not timed."""

    def settle(self) -> None:
        """Bring the planner's figures up to date after filling."""

    def live(self, user: str) -> int:
        """How many memories of the user a reader can get."""


def make(name: str, places: Places) -> System:
    """The system of this name."""
    module: Any = importlib.import_module(f"bench.systems.{name}")
    made: System = module.Store(places)
    return made

"""What applying a mount manifest comes to: what changes, or everything that stands against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from memory.domain.mount import Problem
from memory.models import Memory
from memory.services.errors import Invalid


class MountRefused(Invalid):
    """Nothing was changed; `problems` says why, line by line."""

    status, code = 422, "mount_refused"

    def __init__(self, problems: Sequence[Problem]) -> None:
        lines = "one line" if len(problems) == 1 else f"{len(problems)} lines"
        super().__init__(f"the mount manifest is refused for {lines}; nothing was changed")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A memory that stands for an entry of the file, and how it came to: `listed`, `kept`, or a write's outcome."""

    memory: Memory
    how: str


@dataclass(frozen=True, slots=True)
class MountChange:
    """One entry that the file adds, removes or moves.  `line` is None for what is no longer in it."""

    what: Literal["add", "remove", "change"]
    line: int | None
    memory_id: UUID
    scope: str
    content: str
    note: str
    made: bool = False
    """The mount itself brings the memory into being."""


@dataclass(frozen=True, slots=True)
class MountResult:
    """A file that was applied, or with `dry_run` would have been.

    `stored` says whether anything of it is new, if only its hash or commit; `confirmed` counts sentences whose
    memory had aged and is fresh again.
    """

    name: str
    sha256: str
    commit: str
    dry_run: bool
    entries: int
    changes: tuple[MountChange, ...]
    confirmed: int
    stored: bool

    def count(self, what: str) -> int:
        """How many entries are added, removed or changed."""
        return sum(one.what == what for one in self.changes)

"""One row of a foreign store in a shape of our own, and what is said about a row that cannot be read.

Plain frozen data. How a format is read is in the module of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final


class Unusable(Exception):
    """The file as a whole cannot be read; the text says why and what to do."""


_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """What a foreign store holds in one row.

    `pointer` says where it stands (`line 5`, `results[3]`); `owner` is whom the row is about in the store's own
    words, so that equal sentences about two people are two facts; `scope` is where it would fit here. A time is
    None where the row has none: nothing is made up. `retired` says why the store itself no longer returns it.
    """

    text: str
    pointer: str
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    owner: str = ""
    scope: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired: str | None = None
    foreign_id: str | None = None
    provenance: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    extra: Mapping[str, object] = field(default_factory=lambda: _NOTHING)

    @property
    def dated(self) -> bool:
        """Whether anything about the row's age can be told."""
        return bool(self.created_at or self.updated_at or self.expires_at or self.valid_to or self.retired)

    @property
    def last_confirmed(self) -> datetime | None:
        """When the store last wrote it."""
        return self.updated_at or self.created_at


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line or element that could not be read; it is named and skipped."""

    pointer: str
    problem: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something left out on purpose, to be counted: `environment variable dropped`, `message ignored`."""

    what: str
    pointer: str = ""


Item = ForeignRecord | Unreadable | Note

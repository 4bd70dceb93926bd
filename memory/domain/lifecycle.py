"""The lifecycle of a memory as a table: which event leads from which status to which.

Nothing else decides a status. Who may cause an event, and what else it changes, is in services.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.domain.types import Status


class Event(StrEnum):
    ADMIT = "admit"
    """A reviewer lets a held candidate in."""
    QUARANTINE = "quarantine"
    RELEASE = "release"
    """A quarantined memory is found harmless."""
    CONTEST = "contest"
    SETTLE = "settle"
    """A contradiction is decided for this value."""
    SUPERSEDE = "supersede"
    MERGE = "merge"
    ARCHIVE = "archive"
    EVICT = "evict"
    EXPIRE = "expire"
    DELETE = "delete"
    RESTORE = "restore"
    """A removal, a merge or a supersede is undone."""
    ERASE = "erase"
    PURGE = "purge"
    """The text of a tombstone goes for good; the empty shell keeps links and audit whole."""


READABLE: Final = frozenset({Status.LIVE, Status.CONTESTED})
"""The only statuses that an agent is ever shown."""

_HELD: Final = frozenset({Status.CANDIDATE, Status.QUARANTINED})
_REMOVED: Final = frozenset({Status.ARCHIVED, Status.EVICTED, Status.EXPIRED})
_REPLACED: Final = frozenset({Status.SUPERSEDED, Status.MERGED})

RESTORABLE: Final = _REMOVED | _REPLACED | {Status.DELETED}
FINAL: Final = frozenset({Status.ERASED})


def _rows(event: Event, sources: frozenset[Status], target: Status) -> dict[tuple[Status, Event], Status]:
    return {(source, event): target for source in sources}


TRANSITIONS: Final[dict[tuple[Status, Event], Status]] = {
    **_rows(Event.ADMIT, frozenset({Status.CANDIDATE}), Status.LIVE),
    **_rows(Event.QUARANTINE, READABLE | _REMOVED | _REPLACED | {Status.CANDIDATE}, Status.QUARANTINED),
    **_rows(Event.RELEASE, frozenset({Status.QUARANTINED}), Status.LIVE),
    **_rows(Event.CONTEST, frozenset({Status.LIVE, Status.CANDIDATE}), Status.CONTESTED),
    **_rows(Event.SETTLE, frozenset({Status.CONTESTED}), Status.LIVE),
    **_rows(Event.SUPERSEDE, READABLE | _HELD, Status.SUPERSEDED),
    **_rows(Event.MERGE, READABLE | _HELD, Status.MERGED),
    **_rows(Event.ARCHIVE, READABLE, Status.ARCHIVED),
    **_rows(Event.EVICT, READABLE, Status.EVICTED),
    **_rows(Event.EXPIRE, READABLE | _HELD, Status.EXPIRED),
    **_rows(Event.DELETE, READABLE | _HELD | _REMOVED | _REPLACED, Status.DELETED),
    **_rows(Event.RESTORE, RESTORABLE, Status.LIVE),
    **_rows(Event.PURGE, frozenset({Status.DELETED}), Status.ERASED),
    **_rows(Event.ERASE, frozenset(Status) - FINAL, Status.ERASED),
}


class IllegalTransition(ValueError):
    """The event does not apply to a memory in this status."""

    def __init__(self, status: Status, event: Event) -> None:
        super().__init__(f"a memory that is {status} cannot be changed by {event}")
        self.status = status
        self.event = event


def move(status: Status, event: Event) -> Status:
    """The status after the event; IllegalTransition when the table has no such row."""
    try:
        return TRANSITIONS[status, event]
    except KeyError:
        raise IllegalTransition(status, event) from None


def allowed(status: Status) -> frozenset[Event]:
    """The events that apply to a memory in this status."""
    return frozenset(event for source, event in TRANSITIONS if source is status)


def released_to(previous: Status) -> Status:
    """Where undoing a quarantine leads: readable and held rows become live, the rest returns to where it was.

    A superseded row that was quarantined with its source must not come back beside its successor.
    """
    return previous if previous in _REMOVED | _REPLACED else Status.LIVE


SOURCES: Final[dict[Event, frozenset[Status]]] = {
    event: frozenset(source for source, known in TRANSITIONS if known is event) for event in Event
}
"""For set-based statements: the statuses from which an event leads on."""


def standing(
    status: str, expires_at: datetime | None, now: datetime, valid_to: datetime | None = None
) -> str:
    """The status as everybody has to take it: past its expiry, or the end of what it says, a
    readable row is expired, swept or not."""
    over = any(end is not None and end <= now for end in (expires_at, valid_to))
    return Status.EXPIRED.value if over and status in READABLE else status

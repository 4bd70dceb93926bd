"""Where a search for the reach of something begins: a memory, an agent, a key, a session, a tool, a source, a time.

Pure data, as it stands in an address, in a request and in a job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Final
from uuid import UUID

from memory.domain.ids import parse_id, show_id

LONGEST: Final = 300
_IDS: Final = {"memory": "mem", "agent": "agt", "key": "key"}
_TEXTS: Final = ("session", "tool", "source")
_TIMES: Final = ("since", "until")
NAMES: Final = (*_IDS, *_TEXTS, *_TIMES)


class BadSeed(ValueError):
    """A condition that cannot be read; `field` names it ("" where none was given)."""

    def __init__(self, field: str, said: str) -> None:
        super().__init__(said)
        self.field = field


@dataclass(frozen=True, slots=True)
class Seed:
    """What was written, by conditions that all hold.  `source` is an agent with its tool, as readers are shown it;
    `since` and `until` bound the time of recording, both included."""

    memory: UUID | None = None
    agent: UUID | None = None
    key: UUID | None = None
    session: str = ""
    tool: str = ""
    source: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def given(self) -> bool:
        """Whether there is any condition; without one it would be everything."""
        return any(getattr(self, name) for name in NAMES)

    def as_text(self) -> dict[str, str]:
        """The conditions that are given, as `seed` reads them."""
        found = {}
        for name, prefix in _IDS.items():
            if (value := getattr(self, name)) is not None:
                found[name] = show_id(prefix, value)
        found |= {name: getattr(self, name) for name in _TEXTS if getattr(self, name)}
        found |= {name: at.isoformat() for name in _TIMES if (at := getattr(self, name)) is not None}
        return found


def parse_seed(given: Mapping[str, str]) -> Seed:
    """The conditions out of a query string; other names are passed over.  Raises `BadSeed`.

    A time is an instant with its offset, or a day (UTC): `since` from its start, `until` to its end.
    """
    return Seed(
        memory=_id(given, "memory"),
        agent=_id(given, "agent"),
        key=_id(given, "key"),
        session=_text(given, "session"),
        tool=_text(given, "tool"),
        source=_text(given, "source"),
        since=_time(given, "since", time.min),
        until=_time(given, "until", time.max),
    )


def _id(given: Mapping[str, str], name: str) -> UUID | None:
    text = given.get(name, "").strip()
    try:
        return parse_id(_IDS[name], text) if text else None
    except ValueError as error:
        raise BadSeed(name, f"{name}: {error}") from None


def _text(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "").replace("\x00", "").strip()
    if len(text) > LONGEST:
        raise BadSeed(name, f"{name}: at most {LONGEST} characters")
    return text


def _time(given: Mapping[str, str], name: str, of_day: time) -> datetime | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is not None and len(text) == len("2030-12-31"):
        at = datetime.combine(at.date(), of_day, UTC)
    if at is None or at.tzinfo is None:
        raise BadSeed(
            name, f"{name}: a day such as 2030-12-31, or an instant with its offset, 2030-12-31T09:00:00Z"
        )
    return at.astimezone(UTC)

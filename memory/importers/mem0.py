"""mem0: what `get_all` returns, a page of the platform's API, and the history of changes.

{"results": [{"id", "memory", "user_id", "agent_id", "run_id", "created_at", "expiration_date", …}]}
[{"id", "memory_id", "old_memory", "new_memory", "event", "is_deleted", …}]
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import datetime
from math import nan
from typing import Any

from memory.importers.numbers import Numbers, hashed
from memory.importers.records import ForeignRecord, Item, Note, Unreadable
from memory.importers.rows import Row, name_of, picked, rows, text_of
from memory.importers.source import Source
from memory.importers.times import read_end, read_time

_PROVENANCE = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "attributed_to", "categories")


def read_list(source: Source, layout: str) -> Iterator[Item]:
    """A record for every memory of a list or page."""
    for row in rows(source, layout):
        yield row if isinstance(row, Unreadable) else _memory(row)


def _memory(row: Row) -> Item:
    value = row.value
    text = text_of(value.get("memory")) or text_of(value.get("data"))
    if text is None:
        return Unreadable(row.pointer, "has no text in `memory`")
    return ForeignRecord(
        text=text,
        pointer=row.pointer,
        owner=name_of(value.get("user_id")) or name_of(value.get("agent_id")) or "",
        scope=scope_of(value),
        created_at=read_time(value.get("created_at")),
        updated_at=read_time(value.get("updated_at")),
        expires_at=read_end(value.get("expiration_date")),
        foreign_id=name_of(value.get("id")),
        provenance=picked(value, *_PROVENANCE),
        extra=picked(value, "metadata"),
    )


def scope_of(value: dict[str, Any]) -> str | None:
    """`user:ana` where the row names a user, else `agent:…`."""
    for field, kind in (("user_id", "user"), ("agent_id", "agent")):
        if name := name_of(value.get(field)):
            return f"{kind}:{name}"
    return None


def read_history(source: Source, layout: str) -> Iterator[Item]:
    """A record for every memory that is still there, as its last change left it.

    Goes through the source twice, since a change may stand anywhere behind the one before it, and keeps a few
    numbers for each memory in between.
    """
    last = _LastChanges()
    for at, row in enumerate(rows(source, layout)):
        if isinstance(row, Row):
            last.add(row, at)
    for at, row in enumerate(rows(source, layout)):
        if isinstance(row, Unreadable):
            yield row
        elif last.is_last(row, at):
            yield _state(row)
        else:
            yield Note("earlier state of a memory, replaced by a later one", row.pointer)


class _LastChanges:
    """Which row of the source tells the last change of each memory."""

    def __init__(self) -> None:
        self._known = Numbers()
        self._rows, self._times = array("Q", [0]), array("d", [0.0])  # by the number of a memory, from 1

    def add(self, row: Row, at: int) -> None:
        changed = _changed_at(row)
        when = changed.timestamp() if changed else nan
        number = self._known.setdefault(_memory_of(row), len(self._rows))
        if number == len(self._rows):
            self._rows.append(at)
            self._times.append(when)
        elif not when < self._times[number]:  # a row without a time counts by its place
            self._rows[number], self._times[number] = at, when

    def is_last(self, row: Row, at: int) -> bool:
        return self._rows[self._known.setdefault(_memory_of(row), len(self._rows))] == at


def _memory_of(row: Row) -> int:
    return hashed(name_of(row.value.get("memory_id")) or row.pointer)


def _changed_at(row: Row) -> datetime | None:
    return read_time(row.value.get("updated_at")) or read_time(row.value.get("created_at"))


def _state(row: Row) -> Item:
    value = row.value
    deleted = bool(value.get("is_deleted")) or str(value.get("event", "")).upper() == "DELETE"
    if deleted:
        return Note("memory deleted in the store", row.pointer)
    text = text_of(value.get("new_memory"))
    if text is None:
        return Unreadable(row.pointer, "has no text in `new_memory`")
    return ForeignRecord(
        text=text,
        pointer=row.pointer,
        owner=name_of(value.get("user_id")) or "",
        scope=scope_of(value),
        created_at=read_time(value.get("created_at")),
        updated_at=read_time(value.get("updated_at")),
        foreign_id=name_of(value.get("memory_id")),
        provenance=picked(value, "event", *_PROVENANCE),
    )

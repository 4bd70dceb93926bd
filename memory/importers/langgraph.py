"""LangGraph's store: rows of `prefix` (a path of names), `key` and a JSON `value`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from memory.importers.records import ForeignRecord, Item, Unreadable
from memory.importers.rows import Row, name_of, picked, rows, text_of
from memory.importers.source import Source
from memory.importers.times import read_time

_TEXT_FIELDS: Final = ("content", "text", "memory", "data", "value", "fact", "note")
_DEEPEST: Final = 4
_LONGEST_TTL: Final = 100 * 365 * 24 * 60


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every row whose value holds a text."""
    for row in rows(source, layout):
        yield row if isinstance(row, Unreadable) else _record(row)


def _record(row: Row) -> Item:
    value = row.value
    text = _text_in(value.get("value"))
    if text is None:
        return Unreadable(row.pointer, "holds no text in `value`")
    path = _path(value)
    created, updated = read_time(value.get("created_at")), read_time(value.get("updated_at"))
    return ForeignRecord(
        text=text,
        pointer=row.pointer,
        owner=".".join(path),
        created_at=created,
        updated_at=updated,
        expires_at=read_time(value.get("expires_at")) or _after(updated or created, value.get("ttl_minutes")),
        foreign_id=name_of(value.get("key")),
        provenance={"namespace": ".".join(path), **picked(value, "key")},
    )


def _after(start: datetime | None, minutes: object) -> datetime | None:
    if start is None or isinstance(minutes, bool) or not isinstance(minutes, int | float):
        return None
    return start + timedelta(minutes=minutes) if 0 < minutes < _LONGEST_TTL else None


def _path(value: dict[str, object]) -> list[str]:
    """The namespace: `memories.ana`, or a list of names."""
    given = value.get("prefix") or value.get("namespace")
    parts = given.split(".") if isinstance(given, str) else given if isinstance(given, list) else []
    return [part for part in map(name_of, parts) if part]


def _text_in(value: object, depth: int = 0) -> str | None:
    """The text of a value: itself, the field that is usually named so, or the only text there is."""
    if text := text_of(value):
        return text
    if not isinstance(value, dict) or depth >= _DEEPEST:
        return None
    for name in _TEXT_FIELDS:
        if name in value and (found := _text_in(value[name], depth + 1)):
            return found
    texts = [found for inner in value.values() if (found := text_of(inner))]
    return texts[0] if len(texts) == 1 else None

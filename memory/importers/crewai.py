"""CrewAI's memory records: content with a path as scope, categories, an importance and a source."""

from __future__ import annotations

from collections.abc import Iterator

from memory.importers.records import ForeignRecord, Item, Unreadable
from memory.importers.rows import Row, name_of, picked, rows, text_of
from memory.importers.source import Source
from memory.importers.times import read_time

_PROVENANCE = ("scope", "categories", "source", "private", "importance", "last_accessed")


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every memory."""
    for row in rows(source, layout):
        yield row if isinstance(row, Unreadable) else _record(row)


def _record(row: Row) -> Item:
    text = text_of(row.value.get("content"))
    if text is None:
        return Unreadable(row.pointer, "has no text in `content`")
    return ForeignRecord(
        text=text,
        pointer=row.pointer,
        owner=name_of(row.value.get("scope")) or "",
        created_at=read_time(row.value.get("created_at")),
        foreign_id=name_of(row.value.get("id")),
        provenance=picked(row.value, *_PROVENANCE),
        extra=picked(row.value, "metadata"),
    )

"""The reference MCP memory server: entities with observations, and relations, one a line or in one document.

    {"type": "entity", "name", "entityType", "observations": [ … ]}
    {"type": "relation", "from", "to", "relationType"}

Some servers write `_type` for `type`, and some keep observations as objects with a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory.importers.records import ForeignRecord, Item, Note, Unreadable
from memory.importers.rows import Row, name_of, picked, rows, text_of
from memory.importers.source import Source
from memory.importers.times import read_time

_KIND_OF_ARRAY = {"entities": "entity", "relations": "relation"}


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every observation and every relation."""
    for row in rows(source, layout):
        if isinstance(row, Unreadable):
            yield row
            continue
        kind = row.value.get("type") or row.value.get("_type") or _KIND_OF_ARRAY.get(row.key)
        if kind == "entity":
            yield from _observations(row)
        elif kind == "relation":
            yield _relation(row)
        else:
            yield Unreadable(row.pointer, "is neither an entity nor a relation")


def _observations(row: Row) -> Iterator[Item]:
    name, said = name_of(row.value.get("name")), row.value.get("observations")
    if name is None or not isinstance(said, list):
        yield Unreadable(row.pointer, "is an entity without a name or without a list of observations")
        return
    if not said:
        yield Note("entity without observations", row.pointer)
    for at, observation in enumerate(said):
        pointer = f"{row.pointer}, observation {at + 1}"
        fields = observation if isinstance(observation, dict) else {"content": observation}
        text = text_of(fields.get("content")) or text_of(fields.get("text"))
        if text is None:
            yield Unreadable(pointer, "is no text")
            continue
        yield ForeignRecord(
            text=about(name, text),
            pointer=pointer,
            subject=name,
            owner=name,
            created_at=read_time(fields.get("createdAt") or fields.get("created_at")),
            provenance={"entity": name, **picked(row.value, "entityType")},
        )


def about(name: str, text: str) -> str:
    """The observation with the entity in front where it does not name it: alone it would be about nobody."""
    spoken = name.replace("_", " ")
    named = spoken.casefold() in text.casefold() or name.casefold() in text.casefold()
    return text if named else f"{spoken}: {text}"


def _relation(row: Row) -> Item:
    one, other = name_of(row.value.get("from")), name_of(row.value.get("to"))
    relation = name_of(row.value.get("relationType"))
    if one is None or other is None or relation is None:
        return Unreadable(row.pointer, "is a relation without `from`, `to` or `relationType`")
    return ForeignRecord(
        text=" ".join(part.replace("_", " ") for part in (one, relation, other)),
        pointer=row.pointer,
        subject=one,
        predicate=relation,
        value=other,
        owner=one,
        created_at=read_time(row.value.get("createdAt") or row.value.get("created_at")),
        provenance={"relation": relation},
    )

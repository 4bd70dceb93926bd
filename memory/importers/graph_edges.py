"""Edges of a temporal graph, as Zep and Graphiti write them: a sentence, two nodes, and when it was true.

{"uuid", "name": "WORKS_AT", "fact", "source_node_uuid", "target_node_uuid", "valid_at", "invalid_at", …}
"""

from __future__ import annotations

from collections.abc import Iterator

from memory.importers.records import ForeignRecord, Item, Unreadable
from memory.importers.rows import Row, name_of, picked, rows, text_of
from memory.importers.source import Source
from memory.importers.times import read_time

_PROVENANCE = (
    "name", "source_node_uuid", "target_node_uuid", "source_node_name", "target_node_name", "group_id", "graph_uuid",
    "user_uuid", "episodes", "episode_uuids", "expired_at", "reference_time",
)  # fmt: skip


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every edge."""
    for row in rows(source, layout):
        yield row if isinstance(row, Unreadable) else _edge(row)


def _edge(row: Row) -> Item:
    value = row.value
    text = text_of(value.get("fact"))
    if text is None:
        return Unreadable(row.pointer, "has no text in `fact`")
    one, other = name_of(value.get("source_node_name")), name_of(value.get("target_node_name"))
    relation = name_of(value.get("name"))
    whole = bool(one and other and relation)
    expired = read_time(value.get("expired_at"))
    return ForeignRecord(
        text=text,
        pointer=row.pointer,
        subject=one if whole else None,
        predicate=relation if whole else None,
        value=other if whole else None,
        owner=name_of(value.get("group_id")) or name_of(value.get("user_uuid")) or "",
        created_at=read_time(value.get("created_at")),
        valid_from=read_time(value.get("valid_at")),
        valid_to=read_time(value.get("invalid_at")),
        retired=f"replaced in the store on {expired:%Y-%m-%d}" if expired else None,
        foreign_id=name_of(value.get("uuid")),
        provenance=picked(value, *_PROVENANCE),
        extra=picked(value, "attributes"),
    )

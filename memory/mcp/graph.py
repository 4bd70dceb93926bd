"""The memories of one scope read as a graph: entities with observations, and relations between them.

A memory's subject is the entity.  Its type, an observation and a relation are each one memory, so that every rule of
the product holds for each: what is held is not in the graph, what is superseded is gone from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memory.domain.normalise import BadText, TooLong, normalise_subject

TYPE_PREDICATE: Final = "entity_type"
MARK: Final = "graph"

Row = Mapping[str, Any]


@dataclass(slots=True)
class Entity:
    """One subject.  `rows` are the ids of its memories, observations under their text."""

    name: str
    kind: str = ""
    observations: dict[str, str] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` and `target` are names as they were written."""

    source: str
    target: str
    kind: str
    row: str


@dataclass(slots=True)
class Graph:
    """Entities by folded name, relations, and whether there was more than was read."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    truncated: bool = False

    def entity(self, name: str) -> Entity | None:
        """The entity of this name in any spelling."""
        return self.entities.get(folded(name))

    def shown(self, wanted: Callable[[Entity], bool] = lambda _: True) -> dict[str, Any]:
        """The entities that are wanted and the relations that touch them, as the reference server shows them."""
        chosen = [one for one in _distinct(self.entities.values()) if wanted(one)]
        names = {folded(one.name) for one in chosen}
        return {
            "entities": [
                {"name": one.name, "entityType": one.kind, "observations": list(one.observations)}
                for one in chosen
            ],
            "relations": [
                {"from": one.source, "to": one.target, "relationType": one.kind}
                for one in self.relations
                if folded(one.source) in names or folded(one.target) in names
            ],
            "truncated": self.truncated,
        }


def folded(name: str) -> str:
    """A name in the spelling in which subjects are compared; "" for what no subject can be."""
    try:
        return normalise_subject(name)
    except (BadText, TooLong):
        return ""


def graph_of(rows: Iterable[Row], *, truncated: bool = False) -> Graph:
    """The graph of these memories, oldest first; those without a subject are no part of one."""
    graph = Graph(truncated=truncated)
    for row in rows:
        if not row["subject"] or row["content"] is None:
            continue
        mark = row["metadata"].get(MARK)
        mark = mark if isinstance(mark, dict) else {}
        relation = mark.get("relation")
        if isinstance(relation, dict) and row["predicate"]:
            graph.relations.append(_relation(row, relation))
        else:
            _add(graph, row, str(mark.get("entity") or row["subject"]))
    return graph


def _relation(row: Row, said: Mapping[str, Any]) -> Relation:
    """The names as they were written; the value is the memory's, which may have been cleaned."""
    return Relation(
        source=str(said.get("from") or row["subject"]),
        target=str(row["value"]),
        kind=str(said.get("type") or row["predicate"]),
        row=row["id"],
    )


def _add(graph: Graph, row: Row, name: str) -> None:
    entity = graph.entities.get(row["subject"]) or Entity(name)
    graph.entities[row["subject"]] = graph.entities[folded(name) or row["subject"]] = entity
    entity.rows.append(row["id"])
    if row["predicate"] == TYPE_PREDICATE:
        entity.kind = row["value"]
    else:
        entity.observations[row["content"]] = row["id"]


def _distinct(entities: Iterable[Entity]) -> list[Entity]:
    """Each once: one stands under its subject and under the name that an alias leads from."""
    return list({id(one): one for one in entities}.values())

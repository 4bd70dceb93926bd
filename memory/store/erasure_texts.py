"""Erasing a subject from rows that quote it without being tied to its memories: questions, answers, notes, messages.

Rows are read along their ids and looked through in Python; only those that hold something are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db.models import Model, Q

from memory.domain.needles import Needles
from memory.models import (
    Alert,
    AlertDelivery,
    Contradiction,
    IdempotencyKey,
    Job,
    Manifest,
    PromotionDecision,
    PromotionNote,
    PromotionRequest,
    SampleItem,
    SweepRun,
    WorkingValue,
    WorkRun,
    WriteDecision,
)
from tenants.models import Membership

ROWS: Final = 1000
GONE_ANSWER: Final = {
    "type": "about:blank",
    "title": "Gone",
    "status": 410,
    "code": "erased",
    "detail": "what was answered was erased since; it is not done again under this key",
}
"""What a repeated request gets: as done, so that a repetition does not write it once more."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A table with columns that may quote anybody, and what becomes of a row that does: its texts are emptied, its
    JSON texts replaced; `also` is set beside, `goes` deletes it."""

    model: type[Model]
    texts: tuple[str, ...] = ()
    jsons: tuple[str, ...] = ()
    also: Mapping[str, Any] = field(default_factory=dict)
    goes: bool = False
    only: Q = field(default_factory=Q)


LOOSE: Final = (
    Loose(WriteDecision, texts=("text",), only=Q(memory_id=None) & ~Q(text="")),
    Loose(Manifest, ("query_text",), ("request", "working"), {"query_hash": "", "block_digest": ""}),
    Loose(WorkingValue, ("key", "summary"), ("value",), goes=True),
    Loose(WorkRun, jsons=("result",)),
    Loose(Job, ("error",), ("result",), only=~Q(kind="subject.erase")),
    Loose(IdempotencyKey, jsons=("answer",), also={"status": 410, "answer": GONE_ANSWER}),
    Loose(Alert, ("message", "note"), ("evidence",)),
    Loose(AlertDelivery, ("error",), ("body",)),
    Loose(SweepRun, ("note",)),
    Loose(PromotionRequest, ("reason",)),
    Loose(PromotionDecision, ("reason",)),
    Loose(PromotionNote, ("text",)),
    Loose(Contradiction, jsons=("evidence",)),
    Loose(SampleItem, ("reason",)),
    Loose(Membership, jsons=("saved_views",)),
)


def erase_batch(loose: Loose, needles: Needles, after: UUID) -> tuple[UUID | None, int]:
    """Look through a batch of rows beyond an id: the last id, None at the end, and how many rows held something."""
    names = (*loose.texts, *loose.jsons)
    rows: Any = loose.model._default_manager.filter(loose.only, id__gt=after)
    found = list(rows.order_by("id").values_list("id", *names)[:ROWS])
    changes = {row[0]: dict(_changed(loose, needles, row[1:])) for row in found}
    hit = [row_id for row_id, changed in changes.items() if changed]
    for row_id in () if loose.goes else hit:
        rows.filter(id=row_id).update(**changes[row_id] | dict(loose.also))
    if loose.goes and hit:
        rows.filter(id__in=hit).delete()
    return (found[-1][0] if len(found) == ROWS else None), len(hit)


def _changed(loose: Loose, needles: Needles, values: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in zip((*loose.texts, *loose.jsons), values, strict=True):
        if name in loose.jsons:
            clean = needles.taken_out(value)
            if clean != value:
                yield name, clean
        elif value and needles.found_in(value):
            yield name, ""


_UNDOS: Final = (WriteDecision, PromotionDecision, Contradiction, WorkRun)
"""Tables whose `undo` remembers what memories were before."""


def forget_undos(ids: frozenset[str], needles: Needles) -> dict[str, int]:
    """Take what concerns these memories (ids as text) out of what undoing would put back; rows by table."""
    counts = {}
    for model in _UNDOS:
        rows: Any = model._default_manager.exclude(undo={}).exclude(undo__changes=[])
        counts[model._meta.db_table] = 0
        for row_id, undo in list(rows.order_by("id").values_list("id", "undo")):
            clean = _without(undo, ids, needles)
            if clean != undo:
                model._default_manager.filter(id=row_id).update(undo=clean)
                counts[model._meta.db_table] += 1
    return counts


def _without(value: Any, ids: frozenset[str], needles: Needles) -> Any:
    """What is remembered without these memories; of others without texts that quote them."""
    if isinstance(value, list):
        return [_without(one, ids, needles) for one in value if not _about(one, ids, needles)]
    if isinstance(value, dict):
        return {name: _without(inner, ids, needles) for name, inner in value.items()}
    return value


def _about(one: Any, ids: frozenset[str], needles: Needles) -> bool:
    if not isinstance(one, dict) or "fields" not in one:
        return False
    return one.get("id") in ids or needles.taken_out(one["fields"]) != one["fields"]

"""The queue of contradictions, and what a reviewer needs to see of one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IContains

from memory.models import Contradiction, Memory
from memory.selectors.pages_paging import Slice, Tally, by_time, newest, tallies

VIEWS = ("open", "clashes", "merges", "settled")


def contradictions(view: str, q: str) -> QuerySet[Contradiction]:
    """The contradictions of a view that match the search."""
    rows = Contradiction.objects.all()
    rows = rows.exclude(status="open") if view == "settled" else rows.filter(status="open")
    if view == "clashes":
        rows = rows.filter(kind__in=("conflict", "contested"))
    elif view == "merges":
        rows = rows.filter(kind="merge")
    return newest(rows, "created_at").filter(_says(q)) if q else rows


def _says(q: str) -> Q:
    """The texts are looked up for each row: as an EXISTS, all memories that say it might be read."""
    either = Q(IContains(_text("memory_a"), q)) | Q(IContains(_text("memory_b"), q))
    return either | Q(subject__icontains=q) | Q(predicate__icontains=q)


def queue(view: str, q: str, cursor: str) -> Slice[Any]:
    """One page of a view, newest first; the rows carry `text_a` and `text_b`."""
    rows = contradictions(view, "").annotate(text_a=_text("memory_a"), text_b=_text("memory_b"))
    return by_time(rows, "created_at", cursor, _says(q) if q else None)


def _text(column: str) -> Subquery:
    return Subquery(Memory.objects.filter(id=OuterRef(column)).values("content")[:1])


def next_in(view: str, q: str, after: Contradiction) -> UUID | None:
    """What follows in the view; from its start again when that was the last one."""
    rows = contradictions(view, q).exclude(id=after.id).order_by("-created_at", "-id")
    beyond = Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id)
    later = rows.filter(beyond, created_at__lte=after.created_at)
    return later.values_list("id", flat=True).first() or rows.values_list("id", flat=True).first()


def counts() -> dict[str, Tally]:
    """How many are open, of each sort."""
    return tallies(**{view: contradictions(view, "") for view in VIEWS if view != "settled"})


def both(found: Contradiction) -> tuple[Memory, Memory]:
    """The two memories."""
    rows = {row.id: row for row in Memory.objects.filter(id__in=[found.memory_a, found.memory_b])}
    return rows[found.memory_a], rows[found.memory_b]


def recent_of(actor_id: str, now: datetime, days: int = 7, limit: int = 8) -> list[Contradiction]:
    """A person's own last decisions."""
    rows = Contradiction.objects.filter(undo__actor=actor_id, resolved_at__gte=now - timedelta(days=days))
    return list(rows.order_by("-resolved_at", "-id")[:limit])

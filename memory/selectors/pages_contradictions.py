"""The queue of contradictions, and what a reviewer needs to see of one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from memory.models import Contradiction, Memory
from memory.selectors.pages_paging import Slice, by_time

VIEWS = ("open", "clashes", "merges", "settled")


def contradictions(view: str, q: str) -> QuerySet[Contradiction]:
    """The contradictions of a view that match the search."""
    rows = Contradiction.objects.all()
    rows = rows.exclude(status="open") if view == "settled" else rows.filter(status="open")
    if view == "clashes":
        rows = rows.exclude(kind="merge")
    elif view == "merges":
        rows = rows.filter(kind="merge")
    if q:
        said = Memory.objects.filter(content__icontains=q)
        in_either = Exists(said.filter(id=OuterRef("memory_a"))) | Exists(
            said.filter(id=OuterRef("memory_b"))
        )
        rows = rows.filter(Q(in_either) | Q(subject__icontains=q) | Q(predicate__icontains=q))
    return rows


def queue(view: str, q: str, cursor: str) -> Slice[Any]:
    """One page of a view, newest first; the rows carry `text_a` and `text_b`."""
    rows = contradictions(view, q).annotate(text_a=_text("memory_a"), text_b=_text("memory_b"))
    return by_time(rows, "created_at", cursor)


def _text(column: str) -> Subquery:
    return Subquery(Memory.objects.filter(id=OuterRef(column)).values("content")[:1])


def next_in(view: str, q: str, after: Contradiction) -> UUID | None:
    """What follows in the view; from its start again when that was the last one."""
    rows = contradictions(view, q).exclude(id=after.id).order_by("-created_at", "-id")
    later = rows.filter(Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id))
    return later.values_list("id", flat=True).first() or rows.values_list("id", flat=True).first()


def counts() -> dict[str, int]:
    """How many are open, of each sort."""
    rows = Contradiction.objects.filter(status="open")
    merges = rows.filter(kind="merge").count()
    total = rows.count()
    return {"open": total, "clashes": total - merges, "merges": merges}


def both(found: Contradiction) -> tuple[Memory, Memory]:
    """The two memories."""
    rows = {row.id: row for row in Memory.objects.filter(id__in=[found.memory_a, found.memory_b])}
    return rows[found.memory_a], rows[found.memory_b]


def recent_of(actor_id: str, now: datetime, days: int = 7, limit: int = 8) -> list[Contradiction]:
    """A person's own last decisions."""
    rows = Contradiction.objects.filter(undo__actor=actor_id, resolved_at__gte=now - timedelta(days=days))
    return list(rows.order_by("-resolved_at", "-id")[:limit])

"""What agents no longer get: evicted, archived, expired and deleted memories, with who did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from memory.domain.ids import show_id
from memory.models import AuditEvent, Memory, Revision
from memory.selectors.pages_paging import Slice, by_time, count_up_to

RULES = ("evicted", "archived", "expired", "deleted")


def removed(rule: str, q: str) -> QuerySet[Memory]:
    """Removed memories that match."""
    rows = Memory.objects.filter(status__in=[rule] if rule in RULES else RULES)
    if q:
        rows = rows.filter(Q(content__icontains=q) | Q(subject__icontains=q) | Q(scope__icontains=q))
    return rows


def page(rule: str, q: str, cursor: str) -> tuple[Slice[Any], int, bool]:
    """One page, what went last first; the rows carry `removed_by`."""
    rows = removed(rule, q)
    total, more = count_up_to(rows)
    last = Revision.objects.filter(memory_id=OuterRef("id"), version=OuterRef("version"))
    rows = rows.annotate(removed_by=Subquery(last.values("actor")[:1]))
    return by_time(rows, "status_changed_at", cursor), total, more


def counts() -> dict[str, int]:
    """How many went by each rule."""
    rows = Memory.objects.filter(status__in=RULES).values_list("status").annotate(n=Count("id"))
    return dict(rows.order_by())


def scores(ids: Sequence[UUID]) -> dict[str, float]:
    """The decay score at which each of these was evicted, by shown id."""
    events = AuditEvent.objects.filter(
        target_id__in=[show_id("mem", one) for one in ids], action="memory.evicted"
    )
    found = {}
    for target, after in events.order_by("seq").values_list("target_id", "after"):
        score = (after or {}).get("score")
        if isinstance(score, int | float):
            found[target] = float(score)
    return found

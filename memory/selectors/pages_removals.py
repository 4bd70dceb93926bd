"""What agents no longer get: evicted, archived, expired and deleted memories, with who did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from memory.domain.ids import show_id
from memory.models import AuditEvent, Memory, Revision
from memory.selectors.pages_paging import Slice, Tally, by_time, counted, tallies

RULES = ("evicted", "archived", "expired", "deleted")


def removed(rule: str) -> QuerySet[Memory]:
    """Removed memories, by all rules or one."""
    return Memory.objects.filter(status=rule) if rule in RULES else Memory.objects.filter(status__in=RULES)


def page(rule: str, q: str, cursor: str) -> tuple[Slice[Any], Tally | None]:
    """One page, what went last first, and how many match (None where the search does not reach all); the rows carry
    `removed_by`."""
    rows = removed(rule)
    said = Q(content__icontains=q) | Q(subject__icontains=q) | Q(scope__icontains=q) if q else None
    total = counted(rows, said)
    last = Revision.objects.filter(memory_id=OuterRef("id"), version=OuterRef("version"))
    rows = rows.annotate(removed_by=Subquery(last.values("actor")[:1]))
    return by_time(rows, "status_changed_at", cursor, said), total


def counts() -> dict[str, Tally]:
    """How many went by each rule."""
    return tallies(**{rule: removed(rule) for rule in RULES})


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

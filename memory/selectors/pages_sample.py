"""The sample for the pages: what waits for a verdict, and what was judged.

Only the newest draw waits: what nobody judged in its week says nothing about the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.models import HealthSample, Memory, SampleItem
from memory.selectors.pages_paging import Slice, by_time

OPEN, JUDGED = "open", "judged"
_GONE = ("deleted", "erased")


def newest() -> HealthSample | None:
    """The last draw."""
    row: HealthSample | None = HealthSample.objects.order_by("-period").first()
    return row


def waiting() -> QuerySet[SampleItem]:
    """Entries of the newest draw without a verdict, whose text is still there."""
    last = HealthSample.objects.order_by("-period").values("id")[:1]
    there = Memory.objects.filter(id=OuterRef("memory_id")).exclude(status__in=_GONE)
    return SampleItem.objects.filter(Exists(there), sample_id=last, verdict="").order_by("place")


def rows(view: str, q: str, cursor: str) -> Slice[SampleItem]:
    """One page of a view: what waits in the order of the draw, what was judged newest first."""
    if view == JUDGED:
        return by_time(_matching(SampleItem.objects.filter(judged_at__isnull=False), q), "judged_at", cursor)
    return Slice(list(_matching(waiting(), q)), "", "")


def _matching(items: QuerySet[SampleItem], q: str) -> QuerySet[SampleItem]:
    if not q:
        return items
    named = Memory.objects.filter(id=OuterRef("memory_id"), content__icontains=q)
    return items.filter(Q(Exists(named)) | Q(scope__icontains=q))


def following(view: str, q: str, item: SampleItem) -> UUID | None:
    """What comes after an entry in the view that waits; from its start again after the last."""
    if view == JUDGED:
        return None
    ids = _matching(waiting(), q).exclude(id=item.id)
    later: UUID | None = ids.filter(place__gt=item.place).values_list("id", flat=True).first()
    return later or ids.values_list("id", flat=True).first()


def counts() -> dict[str, int]:
    """How many wait, and how many of the same draw were judged."""
    last = HealthSample.objects.order_by("-period").values("id")[:1]
    judged = SampleItem.objects.filter(sample_id=last).exclude(verdict="")
    return {OPEN: waiting().count(), JUDGED: judged.count()}


def item(item_id: UUID) -> SampleItem | None:
    """One entry."""
    row: SampleItem | None = SampleItem.objects.filter(id=item_id).first()
    return row


def memories(items: Sequence[SampleItem]) -> dict[UUID, Memory]:
    """The memories of entries, by id."""
    return {row.id: row for row in Memory.objects.filter(id__in=[one.memory_id for one in items])}

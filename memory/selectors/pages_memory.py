"""One memory with its versions and relatives."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery

from memory.models import Memory, PromotionRequest, Revision
from tenants.models import AgentKey

MOST = 50


def memory_with_key(memory_id: UUID) -> Memory | None:
    """The memory, with `key_prefix` of the key that wrote it."""
    prefix = AgentKey.objects.filter(id=OuterRef("key_id")).values("prefix")[:1]
    row: Memory | None = Memory.objects.annotate(key_prefix=Subquery(prefix)).filter(id=memory_id).first()
    return row


def revisions_of(memory_id: UUID) -> list[Revision]:
    """The last versions, newest first."""
    return list(Revision.objects.filter(memory_id=memory_id).order_by("-version")[: MOST + 1])


def relatives_of(memory: Memory) -> Sequence[tuple[str, Memory]]:
    """What it came from and what came from it, each with how it is related."""
    around = [*memory.derived_from, *filter(None, [memory.superseded_by, memory.merged_into])]
    rows = Memory.objects.filter(
        Q(id__in=around)
        | Q(superseded_by=memory.id)
        | Q(merged_into=memory.id)
        | Q(derived_from__contains=[memory.id])
    )
    return [(_relation(memory, row), row) for row in rows.order_by("-id")[:MOST]]


def _relation(memory: Memory, row: Memory) -> str:
    if row.id in memory.derived_from:
        return "source"
    if row.id == memory.superseded_by:
        return "successor"
    if row.id == memory.merged_into:
        return "merged_into"
    if row.superseded_by == memory.id:
        return "predecessor"
    return "merged" if row.merged_into == memory.id else "derived"


def derived_from(memory_id: UUID) -> list[Memory]:
    """What was derived from a memory directly and is still there."""
    gone = ("deleted", "erased")
    rows = Memory.objects.filter(derived_from__contains=[memory_id]).exclude(status__in=gone)
    return list(rows.order_by("-id")[:MOST])


def promotions_of(memory_id: UUID) -> list[PromotionRequest]:
    """Requests to widen the memory's scope, newest first."""
    return list(PromotionRequest.objects.filter(memory_id=memory_id).order_by("-created_at")[:10])

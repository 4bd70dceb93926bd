"""Mounts for the pages: the files that are applied, and what stands for each of their entries now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q

from memory.domain.types import Status
from memory.models import Memory, Mount, MountEntry
from memory.selectors.mounts import entries_of
from memory.selectors.timely import holds


@dataclass(frozen=True, slots=True)
class MountRow:
    """A mount, and how many of its entries a reader could get now."""

    mount: Mount
    given: int


def mounts(now: datetime) -> list[MountRow]:
    """All mounts by name.  A tenant has about one per repository."""
    live = Memory.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        holds(now),
        id=OuterRef("memory_id"),
        status=Status.LIVE.value,
    )
    counted = MountEntry.objects.filter(Exists(live)).values("mount_id").annotate(rows=Count("id"))
    given = {row["mount_id"]: row["rows"] for row in counted}
    return [MountRow(mount, given.get(mount.id, 0)) for mount in Mount.objects.order_by("name")]


def mount(mount_id: UUID) -> Mount | None:
    """One mount."""
    row: Mount | None = Mount.objects.filter(id=mount_id).first()
    return row


def entries(of: Mount) -> list[tuple[MountEntry, Memory]]:
    """The entries of a mount, in their order, each with its memory."""
    rows = entries_of(of)
    memories = {row.id: row for row in Memory.objects.filter(id__in=[row.memory_id for row in rows])}
    return [(row, memories[row.memory_id]) for row in rows if row.memory_id in memories]

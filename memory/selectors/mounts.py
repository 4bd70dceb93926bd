"""Mounts and their entries, for applying a file and for the pages."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.models import Mount, MountEntry


def mount_named(name: str) -> Mount | None:
    """The mount of this name."""
    row: Mount | None = Mount.objects.filter(name=name).first()
    return row


def entries_of(mount: Mount) -> list[MountEntry]:
    """What it declares, in the order in which readers get it."""
    return list(MountEntry.objects.filter(mount_id=mount.id).order_by("sort_order", "place"))


def declaring(memory_id: UUID) -> list[Mount]:
    """The mounts that declare the memory, by name."""
    ids = MountEntry.objects.filter(memory_id=memory_id).values("mount_id")
    return list(Mount.objects.filter(id__in=ids).order_by("name"))


def also_declared(memory_ids: Iterable[UUID], but: Mount) -> list[MountEntry]:
    """Entries of other mounts that declare one of the memories."""
    rows = MountEntry.objects.filter(memory_id__in=list(memory_ids)).exclude(mount_id=but.id)
    return list(rows.order_by("id"))

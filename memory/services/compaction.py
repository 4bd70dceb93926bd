"""Keeping a scope within its cap."""

from __future__ import annotations

from django.db.models import Q

from memory.domain import lifecycle
from memory.models import Memory, MountEntry
from memory.services.changes import Changes
from memory.store import memories


def compact_scope(changes: Changes, scope: str, over: int) -> int:
    """Archive the `over` weakest readable memories of a scope: lowest confidence, then longest unconfirmed.

    Pinned and mounted ones are never archived.  Returns how many went.
    """
    free = Q(pinned_at=None) | Q(pinned_until__lte=changes.now)
    weakest = (
        Memory.objects.filter(free, scope=scope, status__in=lifecycle.READABLE)
        .exclude(id__in=MountEntry.objects.values("memory_id"))
        .order_by("confidence", "learned_at", "id")
        .values_list("id", flat=True)[:over]
    )
    locked = memories.lock(list(weakest))
    for memory in locked.values():
        changes.move(memory, lifecycle.Event.ARCHIVE, "memory.archived", "the scope is over its cap")
    return len(locked)

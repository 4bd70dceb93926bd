"""Contradictions that nobody has to settle any more: one of the two has ended by itself.

It was deleted, expired or replaced while the pair waited.  What stands alone and was only contested by it is live
again.  A held candidate stays in the queue with its pair: whether it is let in is still a person's word.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.domain import lifecycle
from memory.domain.types import Status
from memory.models import Contradiction, Memory
from memory.selectors.policies import ActivePolicy
from memory.services.changes import Changes
from memory.services.contradictions import locked_pair, note
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

ENDED: Final = lifecycle.RESTORABLE | {Status.ERASED}
_HELD: Final = frozenset({Status.CANDIDATE, Status.QUARANTINED})
_REASON: Final = "one of the two has ended"
_MOST: Final = 200


def contradictions_moot(
    tenant_id: UUID,
    actor: Principal,
    active: ActivePolicy,
    now: datetime,
    *,
    of: Collection[UUID] | None = None,
) -> int:
    """Settle those of which one side has ended, each in a transaction of its own; how many.

    `of`: all that have one of these memories, instead of the first of any.
    """
    with tenant_context(tenant_id):
        ids = _ended_pairs(of)
    return sum(_settle(tenant_id, one, Changes(actor, now, active)) for one in ids)


def _ended_pairs(of: Collection[UUID] | None) -> list[UUID]:
    rows = Contradiction.objects.filter(_one_is(ENDED), ~_one_is(_HELD), status="open")
    if of is not None:
        rows = rows.filter(Q(memory_a__in=of) | Q(memory_b__in=of))
    ids = rows.order_by("id").values_list("id", flat=True)
    return list(ids[:_MOST] if of is None else ids)


def _one_is(statuses: Collection[Status]) -> Exists:
    sides = Q(id=OuterRef("memory_a")) | Q(id=OuterRef("memory_b"))
    rows = Memory.objects.filter(
        sides, tenant_id=OuterRef("tenant_id"), status__in=sorted(map(str, statuses))
    )
    return Exists(rows)


def _settle(tenant_id: UUID, contradiction_id: UUID, changes: Changes) -> bool:
    """Close one, as its two memories stand under their locks; False where that has changed meanwhile."""
    try:
        with tenant_context(tenant_id):
            a, b, found = locked_pair(contradiction_id)
            statuses = {Status(a.status), Status(b.status)}
            if found.status != "open" or not statuses & ENDED or statuses & _HELD:
                return False
            reviews.update_contradiction(
                found,
                status="settled",
                resolution="moot",
                resolved_by=changes.actor.name,
                resolved_at=changes.now,
            )
            for stands in (a, b):
                if stands.status == Status.CONTESTED and not still_contested(stands):
                    changes.move(stands, lifecycle.Event.SETTLE, "memory.settled", _REASON)
            note(changes, found, "contradiction.settled", _REASON, after={"resolution": "moot"})
            changes.finish()
    except memories.AlreadyLive:
        return False  # another value went live at this moment: the next run looks again
    return True


def still_contested(memory: Memory) -> bool:
    """Whether another pair that waits has it, with a rival that still stands."""
    open_pairs = Contradiction.objects.filter(Q(memory_a=memory.id) | Q(memory_b=memory.id), status="open")
    rivals = {one for pair in open_pairs for one in (pair.memory_a, pair.memory_b)} - {memory.id}
    readable = sorted(map(str, lifecycle.READABLE))
    return Memory.objects.filter(id__in=rivals, status__in=readable).exists()

"""What an approved promotion does: move the memory, or merge it into the same one, or replace what clashes."""

from __future__ import annotations

from memory.domain import lifecycle
from memory.domain.scopes import parse_scope
from memory.models import Memory, PromotionRequest
from memory.selectors.rivals import rivals_in
from memory.services.changes import Changes
from memory.services.merging import merge_into
from memory.store import memories, scopes


def apply_promotion(changes: Changes, memory: Memory, request: PromotionRequest, reason: str) -> Memory:
    """Widen a locked memory's scope; the memory that is now visible there.

    A promotion moves the row: id, history and counters stay, and there is one truth, not two copies.  The same
    fact already in the target takes the newcomer in; another value of a single-valued key is superseded.
    """
    target = parse_scope(request.to_scope)
    scopes.ensure(memory.tenant_id, target, None)
    rivals = rivals_in(memory, target)
    locked = memories.lock([row.id for row in (*rivals.same, *rivals.contradicting)])
    if rivals.same:
        into = locked[rivals.same[0].id]
        merge_into(changes, memory, into, reason)
        return into
    for rival in rivals.contradicting:
        changes.move(
            locked[rival.id], lifecycle.Event.SUPERSEDE, "memory.superseded", reason, superseded_by=memory.id
        )
    return changes.set(memory, "memory.promoted", reason, scope=request.to_scope)

"""What an approved promotion does: move the memory, or merge it into the same one, or replace what clashes."""

from __future__ import annotations

from memory.domain import lifecycle
from memory.domain.scopes import parse_scope
from memory.models import Memory, PromotionRequest
from memory.selectors.rivals import rivals_in
from memory.services.changes import Changes
from memory.store import memories, scopes


def apply_promotion(changes: Changes, memory: Memory, request: PromotionRequest, reason: str) -> Memory:
    """Widen a locked memory's scope; the memory that is now visible there.

    A promotion moves the row: id, history and counters stay, and there is one truth, not two copies.  The same
    fact already in the target takes the newcomer in; another value of a single-valued key is superseded.
    """
    target = parse_scope(request.to_scope)
    scopes.ensure(target, None)
    rivals = rivals_in(memory, target)
    locked = memories.lock([row.id for row in (*rivals.same, *rivals.contradicting)])
    if rivals.same:
        return _merge(changes, memory, locked[rivals.same[0].id], reason)
    for rival in rivals.contradicting:
        changes.move(
            locked[rival.id], lifecycle.Event.SUPERSEDE, "memory.superseded", reason, superseded_by=memory.id
        )
    return changes.set(memory, "memory.promoted", reason, scope=request.to_scope)


def _merge(changes: Changes, memory: Memory, into: Memory, reason: str) -> Memory:
    sessions = sorted({*into.also_learned_in, *memory.also_learned_in, *filter(None, [memory.session])})
    changes.move(memory, lifecycle.Event.MERGE, "memory.merged", reason, merged_into=into.id)
    memories.count(into, also_learned_in=sessions, reproductions=len(sessions))
    return into

"""Letting a candidate in: what waited for a person, such as a row of a foreign store, becomes live."""

from __future__ import annotations

from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.domain.types import Status
from memory.models import Memory
from memory.selectors.policies import active_policy
from memory.selectors.rivals import rivals_in
from memory.services.access import REVIEWERS, denials_audited, require_role, visible_memory
from memory.services.changes import Changes
from memory.services.errors import Conflict, VersionConflict
from memory.store import memories
from tenants.context import tenant_context
from tenants.principals import Principal


@denials_audited
def candidate_admit(actor: Principal, memory_id: UUID, reason: str = "", *, version: int) -> Memory:
    """Make a candidate live on a person's word.

    The word lifts trust and confidence to the floors of its scope and no higher: otherwise what a reviewer
    let in would be below what the scope asks, and decay would take it within days. Raises `Conflict` when it
    does not wait any more or a live memory stands in its place, `VersionConflict` when it has changed.
    """
    require_role(actor, REVIEWERS, "let a candidate in")
    with tenant_context(actor.tenant_id):
        visible_memory(actor, memory_id)
        memory = memories.lock([memory_id])[memory_id]
        if memory.version != version:
            raise VersionConflict(
                f"the memory is at version {memory.version}, not {version}; nothing was changed"
            )
        if memory.status != Status.CANDIDATE:
            raise Conflict(
                f"a memory that is {memory.status} does not wait for a review; nothing was changed",
                code="not_held",
            )
        active = active_policy()
        _place_is_free(memory)
        changes = Changes(actor, clock.now(), active)
        changes.move(
            memory,
            lifecycle.Event.ADMIT,
            "memory.admitted",
            reason,
            **lifted_to_floors(memory, active.policy),
        )
        changes.finish()
    return memory


def _place_is_free(memory: Memory) -> None:
    rivals = rivals_in(memory, parse_scope(memory.scope))
    other = next(iter((*rivals.same, *rivals.contradicting)), None)
    if other is not None:
        raise Conflict(
            f"another memory lives in its place: {other.content[:120]!r}. Settle the two first; nothing was changed",
            code="place_taken",
        )


def lifted_to_floors(memory: Memory, policy: Policy) -> dict[str, float]:
    """The floors of the scope, where the memory is below them: what a person's word for it lifts."""
    scope = parse_scope(memory.scope)
    rules = policy.for_scope(scope).admission
    floors = {
        "trust": rules.trust_floor.at(scope.tier),
        "confidence": rules.confidence_floor.at(scope.tier),
    }
    return {name: floor for name, floor in floors.items() if getattr(memory, name) < floor}

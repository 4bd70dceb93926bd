"""Settling what was held for suspicion: release it, delete it, and take such a decision back."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.scopes import parse_scope
from memory.domain.types import Status
from memory.models import Memory, Revision
from memory.selectors.policies import active_policy
from memory.selectors.rivals import rivals_in
from memory.services.access import REVIEWERS, denials_audited, require_role, visible_memory
from memory.services.changes import Changes
from memory.services.errors import Conflict, Invalid, VersionConflict
from memory.store import memories
from tenants.context import tenant_context
from tenants.principals import Principal

UNDO_FOR = timedelta(minutes=10)
RELEASED, DISCARDED = "memory.released", "memory.discarded"
TAKEN_BACK = "memory.held_again"


@denials_audited
def quarantine_release(actor: Principal, memory_id: UUID, reason: str, *, version: int) -> Memory:
    """Find a held memory harmless: it becomes live, or what it was before it was held.

    Raises `Conflict` when it is not held any more or something lives in its place, `VersionConflict`, and
    `Invalid` without a reason.
    """
    require_role(actor, REVIEWERS, "release from quarantine")
    _needs(reason, "say why it is harmless")
    with tenant_context(actor.tenant_id):
        memory = _held(actor, memory_id, version)
        status = lifecycle.released_to(_before(memory))
        changes = Changes(actor, clock.now(), active_policy())
        if status in lifecycle.READABLE:
            _place_is_free(memory)
        changes.set(memory, RELEASED, reason, status=status.value, status_reason=reason[:500])
        changes.finish()
    return memory


@denials_audited
def quarantine_delete(actor: Principal, memory_id: UUID, reason: str, *, version: int) -> Memory:
    """Discard a held memory: a tombstone, purged like every other."""
    require_role(actor, REVIEWERS, "delete from quarantine")
    _needs(reason, "say why it is deleted")
    with tenant_context(actor.tenant_id):
        memory = _held(actor, memory_id, version)
        changes = Changes(actor, clock.now(), active_policy())
        changes.move(memory, lifecycle.Event.DELETE, DISCARDED, reason)
        changes.finish()
    return memory


@denials_audited
def quarantine_undo(actor: Principal, memory_id: UUID) -> Memory:
    """Hold again what this person released or discarded within the last 10 minutes, if nothing changed since."""
    require_role(actor, REVIEWERS, "undo decisions")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        visible_memory(actor, memory_id)
        memory = memories.lock([memory_id])[memory_id]
        decision = undoable(memory, actor)
        if decision is None:
            raise Conflict("the memory has changed since; nothing was undone", code="changed_since")
        if now - decision.at > UNDO_FOR:
            raise Conflict("a decision can be undone for 10 minutes", code="undo_too_late")
        changes = Changes(actor, now, active_policy())
        held = Status.QUARANTINED.value
        changes.set(memory, TAKEN_BACK, "undone by the reviewer", status=held, status_reason="held again")
        changes.finish()
    return memory


def undoable(memory: Memory, actor: Principal) -> Revision | None:
    """The person's own decision about a memory, if it is the last thing that happened to it."""
    last: Revision | None = Revision.objects.filter(memory_id=memory.id, version=memory.version).first()
    mine = last is not None and last.event in (RELEASED, DISCARDED) and last.actor == actor.name
    return last if mine else None


def _needs(reason: str, what: str) -> None:
    if not reason.strip():
        raise Invalid(f"{what}: the next reviewer will ask", code="reason_needed", field="reason")


def _held(actor: Principal, memory_id: UUID, version: int) -> Memory:
    visible_memory(actor, memory_id)
    memory = memories.lock([memory_id])[memory_id]
    if memory.status != Status.QUARANTINED:
        raise Conflict(f"it is {memory.status} already; nothing was changed", code="already_decided")
    if memory.version != version:
        raise VersionConflict("it changed since you opened it; nothing was changed")
    return memory


def _before(memory: Memory) -> Status:
    """What it was before it was held; a memory held at its first write was nothing yet."""
    states = Revision.objects.filter(memory_id=memory.id).order_by("-version").values_list("state", flat=True)
    known = (Status(state["status"]) for state in states)
    return next((status for status in known if status is not Status.QUARANTINED), Status.CANDIDATE)


def _place_is_free(memory: Memory) -> None:
    rivals = rivals_in(memory, parse_scope(memory.scope))
    if rivals.same or rivals.contradicting:
        other = (rivals.same or rivals.contradicting)[0]
        raise Conflict(
            f"another memory lives in its place: {other.content[:120]!r}. Delete or supersede that one first;"
            " nothing was released",
            code="place_taken",
        )

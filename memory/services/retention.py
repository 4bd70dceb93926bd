"""Single acts on a memory by people: pin, unpin, verify, delete.  Restoring is `memory.services.restore`."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.scopes import Verb, parse_scope
from memory.models import Memory
from memory.selectors.policies import active_policy
from memory.services.access import (
    REVIEWERS,
    denials_audited,
    deny,
    may_on,
    not_declared,
    require_role,
    visible_memory,
)
from memory.services.changes import Changes
from memory.services.errors import Conflict, Denied, Invalid, VersionConflict
from memory.services.restore import memory_restore
from memory.store import memories
from tenants.context import tenant_context
from tenants.principals import Principal


def _locked(principal: Principal, memory_id: UUID, version: int | None) -> Memory:
    """The memory, visible and locked, at the version the caller saw."""
    visible_memory(principal, memory_id)
    memory = memories.lock([memory_id])[memory_id]
    if version is not None and memory.version != version:
        raise VersionConflict(
            f"the memory is at version {memory.version}, not {version}; nothing was changed, read it again"
        )
    if principal.kind == "agent" and not may_on(principal, Verb.WRITE, parse_scope(memory.scope)):
        deny(principal, Verb.WRITE, parse_scope(memory.scope))
    return memory


@denials_audited
def memory_pin(
    actor: Principal,
    memory_id: UUID,
    reason: str,
    *,
    until: datetime | None = None,
    version: int | None = None,
) -> Memory:
    """Keep a memory from decay, eviction and compaction, with a reason and perhaps an end."""
    require_role(actor, REVIEWERS, "pin a memory")
    now = clock.now()
    if not reason.strip():
        raise Invalid(
            "say why it is pinned: the next reviewer will ask", code="reason_needed", field="reason"
        )
    if until is not None and until <= now:
        raise Invalid("the end of the pin lies in the past", field="until")
    with tenant_context(actor.tenant_id):
        memory = _locked(actor, memory_id, version)
        status = lifecycle.standing(memory.status, memory.expires_at, now, memory.valid_to)
        if status not in lifecycle.READABLE:
            raise Conflict(f"only a live memory can be pinned; this one is {status}", code="not_live")
        changes = Changes(actor, now, active_policy())
        changes.set(
            memory,
            "memory.pinned",
            reason,
            pinned_by=actor.name,
            pin_reason=reason[:500],
            pinned_at=now,
            pinned_until=until,
        )
        changes.finish()
    return memory


@denials_audited
def memory_unpin(
    actor: Principal, memory_id: UUID, reason: str = "", *, version: int | None = None
) -> Memory:
    """Let a memory age again."""
    require_role(actor, REVIEWERS, "unpin a memory")
    with tenant_context(actor.tenant_id):
        memory = _locked(actor, memory_id, version)
        if memory.pinned_at is None:
            raise Conflict("the memory is not pinned", code="not_pinned")
        changes = Changes(actor, clock.now(), active_policy())
        changes.set(
            memory, "memory.unpinned", reason, pinned_by="", pin_reason="", pinned_at=None, pinned_until=None
        )
        changes.finish()
    return memory


@denials_audited
def memory_verify(
    principal: Principal, memory_id: UUID, reason: str = "", *, version: int | None = None
) -> Memory:
    """Confirm that a memory is still true: the only act, beside learning it again, that makes it fresh.

    As with learning it again, a key that may not claim the memory's trust cannot: raises `Denied`, which is audited.
    """
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "verify a memory")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        memory = _locked(principal, memory_id, version)
        status = lifecycle.standing(memory.status, memory.expires_at, now, memory.valid_to)
        if status not in lifecycle.READABLE:
            raise Conflict(f"only a live memory can be verified; this one is {status}", code="not_live")
        _trusted_enough(principal, memory)
        changes = Changes(principal, now, active_policy())
        before = {"learned_at": memory.learned_at.isoformat()}
        memories.count(memory, learned_at=now)
        changes.note(
            "memory.verified", memory, reason=reason, before=before, after={"learned_at": now.isoformat()}
        )
        changes.finish()
    return memory


def _trusted_enough(principal: Principal, memory: Memory) -> None:
    """Refuse a key to make fresh what it could not have written with that trust.  A person's word has no ceiling."""
    if principal.kind == "agent" and principal.trust_ceiling < memory.trust:
        detail = (
            f"the trust ceiling of this key is {principal.trust_ceiling:g}, the memory's trust {memory.trust:g}: a more"
            " trusted key or a person confirms it. Nothing was changed"
        )
        raise Denied(
            detail, code="trust_denied", verb="verify", target=show_id("mem", memory.id), target_kind="memory"
        )


@denials_audited
def memory_delete(
    principal: Principal, memory_id: UUID, reason: str, *, version: int | None = None, cascade: bool = False
) -> list[Memory]:
    """Take a memory away (a tombstone, restorable for 30 days), and with `cascade` all derived from it."""
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "delete a memory")
    if not reason.strip():
        raise Invalid("say why it is deleted", code="reason_needed", field="reason")
    with tenant_context(principal.tenant_id):
        memory = _locked(principal, memory_id, version)
        doomed = [memory, *(_derived(principal, memory) if cascade else [])]
        changes = Changes(principal, clock.now(), active_policy())
        for one in doomed:
            not_declared(principal, one)
            changes.move(one, lifecycle.Event.DELETE, "memory.deleted", reason)
        changes.finish()
    return doomed


def _derived(principal: Principal, memory: Memory) -> list[Memory]:
    """Everything derived from the memory, at any depth, that the principal may write; locked."""
    found: dict[UUID, Memory] = {}
    frontier = [memory.id]
    while frontier:
        rows = Memory.objects.filter(derived_from__overlap=frontier).exclude(status__in=("deleted", "erased"))
        fresh = [row for row in rows if row.id not in found and row.id != memory.id]
        found |= {row.id: row for row in fresh}
        frontier = [row.id for row in fresh]
    locked = memories.lock(found)
    return [row for row in locked.values() if may_on(principal, Verb.WRITE, parse_scope(row.scope))]


__all__ = ["memory_delete", "memory_pin", "memory_restore", "memory_unpin", "memory_verify"]

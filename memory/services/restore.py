"""Bringing a removed memory back with its id, history, links and counters, for 30 days after its removal.

What lives now in its place is never overwritten silently: it is shown (`clash_of`), and who restores says what is to
become of it, at the version that they saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.scopes import Verb, parse_scope
from memory.domain.types import Status
from memory.domain.validity import is_over
from memory.models import AuditEvent, Contradiction, Memory, Revision
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.rivals import rivals_in
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
from memory.services.errors import Conflict, Denied, VersionConflict
from memory.services.merging import unmerge
from memory.services.sweeps.rescan import judged
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

OnClash = Literal["refuse", "replace", "contest"]
_HELD: Final = frozenset({Status.QUARANTINED.value, Status.CANDIDATE.value})
_HOLD_UNDONE: Final = ("memory.quarantine_undone", "memory.sweep_undone")
ON_CLASH: Final[tuple[OnClash, ...]] = ("refuse", "replace", "contest")


@dataclass(frozen=True, slots=True)
class Clash:
    """What lives in the place of a memory: what says the same, and other values of what has one."""

    same: Sequence[Memory]
    contradicting: Sequence[Memory]

    @property
    def rows(self) -> list[Memory]:
        return [*self.same, *self.contradicting]

    @property
    def versions(self) -> dict[UUID, int]:
        """By id, as a decision on the clash has to name them."""
        return {row.id: row.version for row in self.rows}


def clash_of(memory: Memory) -> Clash:
    """What restoring it would meet.  Inside the tenant's context."""
    if goes_back_to(memory) not in lifecycle.READABLE:
        return Clash((), ())
    rivals = rivals_in(memory, parse_scope(memory.scope))
    return Clash(rivals.same, rivals.contradicting)


def goes_back_to(memory: Memory) -> Status:
    """Live, but what was held when it was removed, however often, is held again: to let it in is a decision of its
    own."""
    if memory.status not in lifecycle.RESTORABLE:
        return Status.LIVE
    past = Revision.objects.filter(memory_id=memory.id)
    stood = (
        past.exclude(state__status__in=sorted(map(str, lifecycle.RESTORABLE))).order_by("-version").first()
    )
    if stood is None or stood.state.get("status") not in _HELD:
        return Status.LIVE
    # A hold that was itself taken back, while the memory was removed, holds no more.
    undone = past.filter(version__gt=stood.version, version__lte=memory.version, event__in=_HOLD_UNDONE)
    return Status.LIVE if undone.exists() else Status.QUARANTINED


@denials_audited
def memory_restore(
    actor: Principal,
    memory_id: UUID,
    reason: str = "",
    *,
    version: int | None = None,
    expires_at: datetime | None = None,
    on_clash: OnClash = "refuse",
    seen: Mapping[UUID, int] | None = None,
) -> Memory:
    """Bring it back.  An agent may for what a sweep or an agent took in a scope that it writes; what a person removed
    takes a person.

    Where something lives in its place: `refuse` raises `Conflict`; `replace` supersedes what says something else and
    merges what says the same; `contest` lets both stand, marked, until a person settles it. Both take `seen`, the
    versions of what lives there as the caller saw it; `VersionConflict` when it is another by now.
    """
    now = clock.now()
    with tenant_context(actor.tenant_id):
        active = active_policy()
        memory = _locked(actor, memory_id, version)
        _may(actor, memory)
        _in_time(memory, active, now)
        changes = Changes(actor, now, active)
        held = goes_back_to(memory) is Status.QUARANTINED
        if held or (actor.kind == "agent" and judged(memory, active.policy) is not None):
            changes.set(
                memory, "memory.restored", reason, status=Status.QUARANTINED.value, status_reason="held again"
            )
        else:
            _let_live(changes, memory, reason, on_clash, seen, expires_at)
        changes.finish()
    return memory


def _locked(actor: Principal, memory_id: UUID, version: int | None) -> Memory:
    """The memory with what lives in its place and what had taken it in, locked in the order of their ids."""
    memory = visible_memory(actor, memory_id)
    into = {memory.merged_into} if memory.merged_into is not None else set()
    locked = memories.lock({memory.id, *(row.id for row in clash_of(memory).rows), *into})[memory_id]
    if version is not None and locked.version != version:
        raise VersionConflict(
            f"the memory is at version {locked.version}, not {version}; nothing was changed, read it again"
        )
    return locked


def _may(actor: Principal, memory: Memory) -> None:
    if actor.kind != "agent":
        require_role(actor, REVIEWERS, "restore a memory")
        return
    scope = parse_scope(memory.scope)
    if not may_on(actor, Verb.WRITE, scope):
        deny(actor, Verb.WRITE, scope)
    event = AuditEvent.objects.filter(target_id=show_id("mem", memory.id), after__status=memory.status)
    last = event.order_by("-seq").values_list("actor_kind", flat=True).first()
    if last not in ("agent", "system"):
        detail = "a person removed it; a person brings it back. Nothing was changed"
        raise Denied(
            detail, code="role_denied", verb="restore", target=show_id("mem", memory.id), target_kind="memory"
        )


def _in_time(memory: Memory, active: ActivePolicy, now: datetime) -> None:
    keep = timedelta(days=active.policy.for_scope(parse_scope(memory.scope)).retention.restore_days)
    if now - memory.status_changed_at > keep:
        raise Conflict(
            f"removals can be undone for {keep.days} days; this one is older", code="restore_too_late"
        )


def _let_live(
    changes: Changes,
    memory: Memory,
    reason: str,
    on_clash: OnClash,
    seen: Mapping[UUID, int] | None,
    expires_at: datetime | None,
) -> None:
    if memory.status not in lifecycle.RESTORABLE:
        raise Conflict(f"a memory that is {memory.status} cannot be restored; nothing was changed",
                       code="illegal_transition")  # fmt: skip
    clash, into = clash_of(memory), memory.merged_into
    status = Status.LIVE
    if clash.rows:
        if on_clash == "refuse":
            raise _taken(clash)
        if seen is None or dict(seen) != clash.versions:
            raise VersionConflict("what lives in its place has changed since you looked; nothing was changed")
        status = _settle(changes, memory, clash, reason, on_clash)
    over = memory.expires_at is not None and memory.expires_at <= changes.now
    changes.set(
        memory, "memory.restored", reason, status=status.value, status_reason=reason[:500], superseded_by=None,
        merged_into=None, expires_at=expires_at or (None if over else memory.expires_at),
        valid_to=None if is_over(memory.valid_to, changes.now) else memory.valid_to,
    )  # fmt: skip
    if into is not None:
        unmerge({memory.id: into})


def _taken(clash: Clash) -> Conflict:
    other = clash.rows[0]
    return Conflict(
        f"another memory lives in its place: {other.content[:120]!r} ({show_id('mem', other.id)}, version"
        f" {other.version}). Say what is to become of it; nothing was restored",
        code="place_taken",
    )


def _settle(changes: Changes, memory: Memory, clash: Clash, reason: str, on_clash: OnClash) -> Status:
    """Do with what lives there what was decided; the status in which the memory comes back."""
    rows = memories.lock(clash.versions)
    for row in rows.values():
        not_declared(changes.actor, row)
        if changes.actor.kind == "agent" and (row.pinned_at is not None or row.trust > memory.trust):
            raise Conflict(
                "what lives in its place is pinned or more trusted: a person decides. Nothing was changed",
                code="place_taken",
            )
    if on_clash == "replace":
        for row in clash.same:
            changes.move(rows[row.id], lifecycle.Event.MERGE, "memory.merged", reason, merged_into=memory.id)
        for row in clash.contradicting:
            changes.move(
                rows[row.id], lifecycle.Event.SUPERSEDE, "memory.superseded", reason, superseded_by=memory.id
            )
        return Status.LIVE
    if clash.same:
        raise Conflict(
            "what lives there says the same, so that the two cannot contest each other; replace it or leave it",
            code="place_taken",
        )
    for row in clash.contradicting:
        if row.status == Status.LIVE:
            changes.move(rows[row.id], lifecycle.Event.CONTEST, "memory.contested", reason)
    found = [
        Contradiction(
            kind="contested", scope=memory.scope, subject=memory.subject, predicate=memory.predicate,
            memory_a=row.id, memory_b=memory.id, created_at=changes.now,
        )
        for row in clash.contradicting
    ]  # fmt: skip
    reviews.insert_contradictions(found)
    for one in found:
        shown = [show_id("mem", one.memory_a), show_id("mem", memory.id)]
        changes.add("contradiction.opened", "contradiction", show_id("con", one.id), scope=memory.scope,
                    after={"kind": "contested", "memories": shown})  # fmt: skip
    return Status.CONTESTED

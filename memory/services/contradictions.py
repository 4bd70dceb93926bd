"""Settling two memories that clash, or that may say the same; and taking the decision back.

Keeping one replaces the other (or merges it, where both say the same); keeping both says that the key has more
than one value.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.types import Status
from memory.domain.validity import begins_later
from memory.models import Contradiction, Memory
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.candidate_admit import lifted_to_floors
from memory.services.changes import Changes, revert
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.merging import merge_into, recount
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

UNDO_FOR = timedelta(minutes=10)
ACTIONS: Final = ("keep_a", "keep_b", "keep_both")

_REPLACEABLE: Final = lifecycle.SOURCES[lifecycle.Event.SUPERSEDE]
_REPLACED: Final = frozenset({Status.SUPERSEDED, Status.MERGED})


@denials_audited
def contradiction_settle(
    actor: Principal, contradiction_id: UUID, action: str, reason: str, *, version: int, by: str = ""
) -> Contradiction:
    """Keep A, keep B, or keep both.  `by` says what settled it, where that was no look at the two.

    Raises `Conflict` when it was settled or changed meanwhile, or when what is to be kept is gone; `Invalid`
    without a reason.
    """
    require_role(actor, REVIEWERS, "settle contradictions")
    if action not in ACTIONS:
        raise Invalid("the action is keep_a, keep_b or keep_both", field="action")
    if not reason.strip():
        raise Invalid("say how you know: the next reviewer will ask", code="reason_needed", field="reason")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        a, b, found = locked_pair(contradiction_id)
        if found.status != "open":
            raise Conflict("it is settled already; nothing was changed", code="already_decided")
        if found.version != version:
            raise Conflict("it changed since you opened it; nothing was changed", code="version_conflict")
        settling = _Settling(Changes(actor, now, active_policy()), found, reason)
        try:
            settling.carry_out(action, a, b)
        except memories.AlreadyLive:
            raise Conflict(
                "another memory lives in its place by now; nothing was changed", code="place_taken"
            ) from None
        settling.close(action, by)
    return found


def settlement_revert(changes: Changes, found: Contradiction, reason: str) -> None:
    """Take a settlement back, inside a transaction that locked its memories and then it.

    Raises `Conflict` when anything that it touched has changed since.
    """
    if found.status != "settled" or found.version != found.undo.get("version"):
        raise Conflict("it has changed since; nothing was undone", code="changed_since")
    try:
        revert(changes, found.undo["changes"], "contradiction.undone", reason)
    except memories.AlreadyLive:
        raise Conflict(
            "another memory has taken its place; nothing was undone", code="changed_since"
        ) from None
    recount(found.undo["counts"])
    for moot in found.undo["moot"]:
        _reopen(UUID(moot))
    reviews.update_contradiction(found, **_OPEN)
    note(changes, found, "contradiction.reopened", "decision undone")


def touched_by(found: Contradiction) -> set[UUID]:
    """The memories that taking a settlement back may change."""
    return {UUID(entry["id"]) for entry in found.undo["changes"]} | {found.memory_a, found.memory_b}


@denials_audited
def contradiction_undo(actor: Principal, contradiction_id: UUID) -> Contradiction:
    """Take one's own decision back within 10 minutes, if nothing it touched has changed since."""
    require_role(actor, REVIEWERS, "undo decisions")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        found = Contradiction.objects.filter(id=contradiction_id).first()
        if found is None or found.undo.get("actor") != actor.id:
            raise NotFound("there is no such decision of yours")
        memories.lock(touched_by(found))
        found = reviews.lock_contradiction(contradiction_id)
        assert found is not None  # contradictions are never deleted
        if found.status != "settled" or found.version != found.undo.get("version"):
            raise Conflict("it has changed since; nothing was undone", code="changed_since")
        if found.resolved_at is None or now - found.resolved_at > UNDO_FOR:
            raise Conflict("a decision can be undone for 10 minutes", code="undo_too_late")
        changes = Changes(actor, now, active_policy())
        settlement_revert(changes, found, "undone by the reviewer")
        changes.finish()
    return found


_OPEN: Final[dict[str, Any]] = {
    "status": "open",
    "resolution": "",
    "resolved_by": "",
    "resolved_at": None,
    "undo": {},
}


class _Settling:
    """One decision under way: what it changes, and what its undo needs."""

    def __init__(self, changes: Changes, found: Contradiction, reason: str) -> None:
        self.changes, self.found, self.reason = changes, found, reason
        self.moot: list[str] = []

    def carry_out(self, action: str, a: Memory, b: Memory) -> None:
        if action == "keep_both":
            self._keep_both(a, b)
            return
        kept, lost = (a, b) if action == "keep_a" else (b, a)
        if not self._begins_later(kept, lost):
            self._replace(kept, lost)
            self._drop_moot(lost, kept)
        self._let_live(kept)

    def close(self, action: str, by: str) -> None:
        """The contradiction is settled; its undo is kept with it."""
        undo = {
            "actor": self.changes.actor.id,
            "version": self.found.version + 1,
            "changes": self.changes.undo,
            "counts": self.changes.counts,
            "moot": self.moot,
            **({"by": by} if by else {}),
        }
        reviews.update_contradiction(
            self.found,
            status="settled",
            resolution=action,
            resolved_by=self.changes.actor.name,
            resolved_at=self.changes.now,
            undo=undo,
        )
        note(self.changes, self.found, "contradiction.settled", self.reason, after={"resolution": action})
        self.changes.finish()

    def _begins_later(self, kept: Memory, lost: Memory) -> bool:
        """Whether both stand: the other holds until the kept one begins."""
        begins = begins_later(kept.valid_from, self.changes.now)
        return begins is not None and begins != begins_later(lost.valid_from, self.changes.now)

    def _replace(self, kept: Memory, lost: Memory) -> None:
        """The one that lost gives way: to the kept one, or to what replaced that meanwhile."""
        # What has expired counts as gone, swept or not: nobody would be left with either.
        status = Status(lifecycle.standing(kept.status, kept.expires_at, self.changes.now, kept.valid_to))
        successor = kept.id
        if status in _REPLACED:
            successor = kept.superseded_by or kept.merged_into or kept.id
        elif status not in _REPLACEABLE or status is Status.QUARANTINED:
            raise Conflict(
                f"the one to keep is {status} by now; restore it first, or keep the other. Nothing was changed",
                code="kept_is_gone",
            )
        if Status(lost.status) not in _REPLACEABLE:
            return
        if self.found.kind == "merge":
            self._merge(lost, successor)
        else:
            event = lifecycle.Event.SUPERSEDE
            self.changes.move(lost, event, "memory.superseded", self.reason, superseded_by=successor)

    def _merge(self, lost: Memory, into_id: UUID) -> None:
        """The kept wording takes in the sessions that learned the other."""
        merge_into(self.changes, lost, memories.lock([into_id])[into_id], self.reason)

    def _let_live(self, kept: Memory) -> None:
        """A held value is let in; a contested one is live again once nothing clashes with it."""
        if kept.status == Status.CANDIDATE:
            lifted = lifted_to_floors(kept, self.changes.active.policy)
            self.changes.move(kept, lifecycle.Event.ADMIT, "memory.admitted", self.reason, **lifted)
        elif kept.status == Status.CONTESTED and not self._clashes(kept):
            self.changes.move(kept, lifecycle.Event.SETTLE, "memory.settled", self.reason)

    def _clashes(self, memory: Memory) -> bool:
        """Whether another value of its key is still in use."""
        readable = [status.value for status in lifecycle.READABLE]
        rows = Memory.objects.filter(
            scope=memory.scope,
            subject=memory.subject,
            predicate=memory.predicate,
            claim=memory.claim,
            status__in=readable,
        )
        rows = rows.exclude(begins_at__gt=self.changes.now)
        return memory.single_valued and rows.exclude(id=memory.id).exists()

    def _keep_both(self, a: Memory, b: Memory) -> None:
        """Both are true: the key has several values from now on."""
        if self.found.kind == "merge":
            return
        for memory in (a, b):
            if Status(memory.status) not in lifecycle.READABLE | {Status.CANDIDATE}:
                raise Conflict(
                    f"one of the two is {memory.status} by now; nothing was changed", code="kept_is_gone"
                )
        for memory in (a, b):
            action = "memory.admitted" if memory.status == Status.CANDIDATE else "memory.settled"
            live = Status.LIVE.value
            self.changes.set(memory, action, self.reason, status=live, single_valued=False)

    def _drop_moot(self, lost: Memory, kept: Memory) -> None:
        """Other open clashes with the value that lost are settled with it."""
        rows = Contradiction.objects.select_for_update().filter(
            Q(memory_a=lost.id) | Q(memory_b=lost.id), status="open"
        )
        for other in rows.exclude(id=self.found.id).order_by("id"):
            reviews.update_contradiction(
                other,
                status="settled",
                resolution="moot",
                resolved_by=self.changes.actor.name,
                resolved_at=self.changes.now,
            )
            self.moot.append(str(other.id))
            note(
                self.changes,
                other,
                "contradiction.settled",
                "one of the two lost elsewhere",
                after={"resolution": "moot"},
            )


def locked_pair(contradiction_id: UUID) -> tuple[Memory, Memory, Contradiction]:
    """Both memories, then the contradiction, in the product's one order of locks."""
    found = Contradiction.objects.filter(id=contradiction_id).first()
    if found is None:
        raise NotFound("there is no such contradiction")
    rows = memories.lock([found.memory_a, found.memory_b])
    locked = reviews.lock_contradiction(contradiction_id)
    assert locked is not None  # contradictions are never deleted
    return rows[found.memory_a], rows[found.memory_b], locked


def _reopen(contradiction_id: UUID) -> None:
    other = reviews.lock_contradiction(contradiction_id)
    if other is not None and other.status == "settled" and other.resolution == "moot":
        reviews.update_contradiction(other, **_OPEN)


def note(changes: Changes, found: Contradiction, action: str, reason: str, **more: Any) -> None:
    """An audit event about a contradiction."""
    changes.add(action, "contradiction", show_id("con", found.id), scope=found.scope, reason=reason, **more)

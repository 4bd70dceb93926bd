"""Deciding a promotion: approve, reject, quarantine, and taking a decision back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.promotion import may_decide, stale
from memory.domain.scopes import parse_scope
from memory.models import Memory, PromotionDecision, PromotionRequest
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.changes import Changes, revert
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.merging import recount
from memory.services.promotion import tier_of
from memory.services.promotion_apply import apply_promotion
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

UNDO_FOR = timedelta(minutes=10)
_CLOSED_AS = {"approve": "approved", "reject": "rejected", "quarantine": "quarantined"}


@dataclass(frozen=True, slots=True)
class Decided:
    """The request as it is now, the decision, and whether more approvals are needed."""

    request: PromotionRequest
    decision: PromotionDecision
    memory: Memory

    @property
    def waits_for_more(self) -> bool:
        return self.request.status == "pending"


class Stale(Conflict):
    """What was decided on is no longer what is there.  Nothing was applied; the request was brought up to date."""

    def __init__(self, detail: str, code: str) -> None:
        super().__init__(detail, code=code)


@denials_audited
def promotion_decide(
    actor: Principal, request_id: UUID, action: str, *, reason: str = "", version: int
) -> Decided:
    """Approve, reject or quarantine an open request.

    `version` is the request's version that the reviewer saw.  Raises `Stale` when the request was decided or
    the memory changed meanwhile, `Denied` for one's own request or without a reviewing role, `Invalid`
    without a reason where one is needed.
    """
    require_role(actor, REVIEWERS, "decide promotions")
    if action not in _CLOSED_AS:
        raise Invalid("the action is approve, reject or quarantine", field="action")
    moved = _refresh_if_memory_moved(actor, request_id, action, version)
    if moved:
        raise Stale(moved, "memory_changed")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        memory, request = _lock(request_id)
        _check(actor, request, action, reason.strip(), version)
        changes = Changes(actor, now, active_policy())
        try:
            result = _carry_out(changes, memory, request, action, reason)
        except memories.AlreadyLive:
            raise Stale(
                "another memory took its place in the target scope this moment; nothing was saved, look again",
                "target_changed",
            ) from None
        decision = reviews.insert_decision(
            PromotionDecision(
                request_id=request.id,
                request_version=request.version,
                action=action,
                reason=reason[:500],
                at=now,
                actor_id=actor.id,
                actor_name=actor.name,
                undo={"changes": changes.undo, "counts": changes.counts},
            )
        )
        if result is not None:
            reviews.close_request(request, _CLOSED_AS[action], now, result.id)
        else:
            reviews.update_request(request)
        verb = _CLOSED_AS[action] if result is not None else "approval_added"
        changes.add(
            f"promotion.{verb}",
            "promotion",
            show_id("prm", request.id),
            scope=request.to_scope,
            reason=reason,
            after={"memory": show_id("mem", memory.id)},
        )
        changes.finish()
    return Decided(request, decision, result or memory)


def _lock(request_id: UUID) -> tuple[Memory, PromotionRequest]:
    """The memory, then the request, locked in the product's one order."""
    found = PromotionRequest.objects.filter(id=request_id).first()
    if found is None:
        raise NotFound("there is no such promotion request")
    memory = memories.lock([found.memory_id])[found.memory_id]
    request = reviews.lock_request(request_id)
    assert request is not None  # requests are never deleted
    return memory, request


def _refresh_if_memory_moved(actor: Principal, request_id: UUID, action: str, version: int) -> str | None:
    """Re-validate a request whose memory changed, or expired, since it was asked: commit its new version and risk,
    apply nothing, and say what happened.  None when there is nothing to refresh."""
    if action != "approve":
        return None
    now = clock.now()
    with tenant_context(actor.tenant_id):
        memory, request = _lock(request_id)
        status = lifecycle.standing(memory.status, memory.expires_at, now, memory.valid_to)
        moved = status != memory.status or stale(request.memory_version, memory.version)
        if request.status != "pending" or not moved:
            return None
        active = active_policy()
        changes = Changes(actor, now, active)
        if status != "live":
            reviews.close_request(request, "stale", now, None)
            detail = f"the memory is {status} now, so the request was closed; nothing was promoted"
        else:
            tier = tier_of(memory, parse_scope(request.to_scope), active)
            reviews.update_request(
                request,
                memory_version=memory.version,
                risk=tier.risk,
                risk_reasons=list(tier.why),
                approvals_needed=max(1, tier.approvals_needed),
            )
            detail = "the memory changed since the request; nothing was promoted, look at it as it is now"
        changes.add(
            "promotion.revalidated",
            "promotion",
            show_id("prm", request.id),
            scope=request.to_scope,
            reason=detail,
        )
        changes.finish()
    return detail


def _check(actor: Principal, request: PromotionRequest, action: str, reason: str, version: int) -> None:
    if request.status != "pending":
        raise Stale(f"the request is already {request.status}; nothing was saved", "already_decided")
    if request.version != version:
        raise Stale("the request changed since you opened it; nothing was saved", "version_conflict")
    if action == "approve" and not may_decide(
        actor.id, request.proposer_id, actor_is_person=actor.kind == "member"
    ):
        raise Denied(
            "you proposed this, so another reviewer has to approve it; nothing was changed",
            code="self_review",
            verb="approve",
            target=show_id("prm", request.id),
            target_kind="promotion",
        )
    if not reason and (action != "approve" or request.risk == "high"):
        raise Invalid(
            "give a reason: it is kept in the audit and shown to the proposer",
            code="reason_needed",
            field="reason",
        )
    already = PromotionDecision.objects.filter(
        request_id=request.id, action="approve", actor_id=actor.id, undone_at=None
    )
    if action == "approve" and already.exists():
        raise Conflict(
            "you have approved this already; it waits for another reviewer", code="already_approved"
        )


def _carry_out(
    changes: Changes, memory: Memory, request: PromotionRequest, action: str, reason: str
) -> Memory | None:
    """Do what was decided; the resulting memory, or None while more approvals are needed."""
    if action == "quarantine":
        return changes.move(memory, lifecycle.Event.QUARANTINE, "memory.quarantined", reason)
    if action == "reject":
        return memory
    given = PromotionDecision.objects.filter(request_id=request.id, action="approve", undone_at=None).count()
    if given + 1 < request.approvals_needed:
        return None
    return apply_promotion(changes, memory, request, reason)


@denials_audited
def promotion_undo(actor: Principal, decision_id: UUID) -> PromotionRequest:
    """Take one's own decision back within 10 minutes, if nothing it touched has changed since.

    An undo is a new event; the decision stays, marked.
    """
    require_role(actor, REVIEWERS, "undo decisions")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        decision = PromotionDecision.objects.filter(id=decision_id, actor_id=actor.id).first()
        if decision is None:
            raise NotFound("there is no such decision of yours")
        if now - decision.at > UNDO_FOR:
            raise Conflict("a decision can be undone for 10 minutes; ask for a new one", code="undo_too_late")
        ids = {UUID(entry["id"]) for entry in decision.undo.get("changes", [])}
        memories.lock(ids)
        request = reviews.lock_request(decision.request_id)
        assert request is not None  # requests are never deleted
        if decision.undone_at is not None or request.version != decision.request_version + 1:
            raise Conflict("the request has changed since; nothing was undone", code="changed_since")
        changes = Changes(actor, now, active_policy())
        try:
            revert(changes, decision.undo.get("changes", []), "promotion.undone", "undone by the reviewer")
        except memories.AlreadyLive:
            raise Conflict(
                "another memory has taken its place; nothing was undone", code="changed_since"
            ) from None
        recount(decision.undo.get("counts", []))
        memory = Memory.objects.get(id=request.memory_id)
        PromotionDecision.objects.filter(id=decision.id).update(undone_at=now)
        reviews.update_request(
            request, status="pending", decided_at=None, result_memory_id=None, memory_version=memory.version
        )
        changes.add(
            "promotion.reopened",
            "promotion",
            show_id("prm", request.id),
            scope=request.to_scope,
            reason=f"{decision.action} undone",
        )
        changes.finish()
    return request

"""Taking an approved promotion back after its undo: of the policy, of somebody else, or of long ago.

A person's own decision is undone within 10 minutes without a word (`promotion_decide`).  What was approved by policy
has no such person, and a mistake is often seen later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.promotion import may_decide
from memory.models import Memory, PromotionDecision, PromotionRequest
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.changes import Changes, revert
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.merging import recount
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal


@denials_audited
def promotion_take_back(actor: Principal, decision_id: UUID, reason: str) -> PromotionRequest:
    """Put everything where it was before the approval, as long as nothing that it touched has changed since.

    The request waits again, and every approval of it is marked as undone: it needs all of them anew.  Raises
    `Denied` without a reviewing role or for one's own request, `Invalid` without a reason, `NotFound`, and `Conflict`
    where something stands in its way.
    """
    require_role(actor, REVIEWERS, "take promotions back")
    now, reason = clock.now(), reason.strip()
    with tenant_context(actor.tenant_id):
        decision = PromotionDecision.objects.filter(id=decision_id, action="approve").first()
        if decision is None:
            raise NotFound("there is no such approval")
        request = _locked(decision)
        _check(actor, decision, request, reason)
        changes = Changes(actor, now, active_policy())
        _put_back(changes, decision, reason)
        memory = Memory.objects.get(id=request.memory_id)
        _mark(request, actor, reason, now)
        reviews.update_request(
            request, status="pending", decided_at=None, result_memory_id=None, memory_version=memory.version,
            approvals_needed=max(1, request.approvals_needed),
        )  # fmt: skip
        changes.add(
            "promotion.reopened",
            "promotion",
            show_id("prm", request.id),
            scope=request.to_scope,
            reason=reason,
            before={"approved_by": decision.actor_name, "at": decision.at.isoformat()},
        )
        changes.finish()
    return request


def can_be_taken_back(
    actor: Principal, request: PromotionRequest, decisions: Sequence[PromotionDecision]
) -> PromotionDecision | None:
    """The approval that closed the request, where the request alone tells nothing against it."""
    if request.status != "approved" or request.proposer_id == actor.id:
        return None
    closing = (one for one in decisions if one.action == "approve" and one.undone_at is None)
    return next((one for one in closing if request.version == one.request_version + 1), None)


def _locked(decision: PromotionDecision) -> PromotionRequest:
    """The memories that it touched, then the request, locked in the product's one order."""
    memories.lock({UUID(entry["id"]) for entry in decision.undo.get("changes", [])})
    request = reviews.lock_request(decision.request_id)
    assert request is not None  # requests are never deleted
    return request


def _check(actor: Principal, decision: PromotionDecision, request: PromotionRequest, reason: str) -> None:
    if not may_decide(actor.id, request.proposer_id, actor_is_person=actor.kind == "member"):
        raise Denied(
            "you proposed this, so another reviewer has to take it back; nothing was changed",
            code="self_review",
            verb="take back",
            target=show_id("prm", request.id),
            target_kind="promotion",
        )
    if can_be_taken_back(actor, request, [decision]) is None:
        raise Conflict("the request has changed since; nothing was undone", code="changed_since")
    if not reason:
        raise Invalid(
            "give a reason: it is kept in the audit and shown to the proposer",
            code="reason_needed",
            field="reason",
        )


def _mark(request: PromotionRequest, actor: Principal, reason: str, now: datetime) -> None:
    """Every approval is undone; by whom and why stands with it, since it is not who gave it."""
    given = PromotionDecision.objects.filter(request_id=request.id, action="approve", undone_at=None)
    for one in given:
        undo = {**one.undo, "taken_back": {"by": actor.name, "reason": reason}}
        PromotionDecision.objects.filter(id=one.id).update(undone_at=now, undo=undo)


def _put_back(changes: Changes, decision: PromotionDecision, reason: str) -> None:
    undo = decision.undo.get("changes", [])
    there = memories.lock({UUID(entry["id"]) for entry in undo})
    if any(UUID(entry["id"]) not in there for entry in undo):
        raise Conflict("a memory that it touched is gone for good; nothing was undone", code="changed_since")
    try:
        revert(changes, undo, "promotion.undone", reason)
    except memories.AlreadyLive:
        raise Conflict(
            "another memory has taken its place; nothing was undone", code="changed_since"
        ) from None
    recount(decision.undo.get("counts", []))

"""Asking for a wider scope: an agent, a member or a trigger opens a request; policy may approve it at once."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.lifecycle import standing
from memory.domain.promotion import PromotionFacts, Tier, route
from memory.domain.scopes import Scope, Verb, may, parse_scope
from memory.domain.types import Kind, Layer, Status
from memory.models import Memory, PromotionDecision, PromotionRequest
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.rivals import rivals_in
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.services.access import denials_audited, deny, visible_memory
from memory.services.changes import Changes
from memory.services.errors import Conflict, Invalid, NotFound, VersionConflict
from memory.services.promotion_apply import apply_promotion
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal, system


@denials_audited
def promotion_request(
    principal: Principal, memory_id: UUID, to_scope: Scope, reason: str, *, version: int | None = None
) -> PromotionRequest:
    """Open a request bound to the memory's version.

    Raises `NotFound`, `Denied` without the right to propose, `VersionConflict`, and `Conflict` when the
    memory is not live or a request for the same step is already open.
    """
    now = clock.now()
    with tenant_context(principal.tenant_id):
        memory = visible_memory(principal, memory_id)
        memory = memories.lock([memory.id])[memory.id]
        _check_right(principal, memory)
        if version is not None and version != memory.version:
            raise VersionConflict(f"the memory is at version {memory.version}, not {version}; read it again")
        status = standing(memory.status, memory.expires_at, now, memory.valid_to)
        if status != "live":
            raise Conflict(f"only a live memory can be promoted; this one is {status}", code="not_live")
        if PromotionRequest.objects.filter(
            memory_id=memory.id, to_scope=str(to_scope), status="pending"
        ).exists():
            raise Conflict(f"a promotion of this memory to {to_scope} is already open", code="promotion_open")
        return open_request(
            principal, memory, to_scope, active_policy(), now, reason=reason, trigger="request"
        )


def _check_right(principal: Principal, memory: Memory) -> None:
    scope = parse_scope(memory.scope)
    if principal.kind != "agent":
        return
    owned = [scope] if is_owned_kind(scope) else []  # a visible session or task is the agent's own
    if not may(Verb.PROPOSE, scope, agent_role=principal.role, rules=rules_of(principal), owned=owned):
        deny(principal, Verb.PROPOSE, scope)


def open_request(
    principal: Principal,
    memory: Memory,
    to_scope: Scope,
    active: ActivePolicy,
    now: datetime,
    *,
    reason: str,
    trigger: str,
) -> PromotionRequest:
    """Store a request for a locked memory, or apply it at once where policy says so."""
    tier = tier_of(memory, to_scope, active)
    request = PromotionRequest(
        memory_id=memory.id,
        memory_version=memory.version,
        from_scope=memory.scope,
        to_scope=str(to_scope),
        reason=reason[:500],
        trigger=trigger,
        proposer_kind=principal.kind,
        proposer_id=principal.id,
        proposer_name=principal.name,
        risk=tier.risk,
        risk_reasons=list(tier.why),
        approvals_needed=tier.approvals_needed,
        created_at=now,
    )
    reviews.insert_request(request)
    changes = Changes(principal, now, active)
    changes.add(
        "promotion.requested",
        "promotion",
        show_id("prm", request.id),
        scope=str(to_scope),
        reason=reason,
        after={"memory": show_id("mem", memory.id), "from": memory.scope, "risk": tier.risk},
    )
    changes.finish()
    if tier.auto_approve:
        _approve_by_policy(memory, request, active, now)
    return request


def tier_of(memory: Memory, to_scope: Scope, active: ActivePolicy) -> Tier:
    """Risk and number of approvals; `Invalid` when the target is not wider."""
    rivals = rivals_in(memory, to_scope)
    facts = PromotionFacts(
        trust=memory.trust,
        confidence=memory.confidence,
        kind=Kind(memory.kind),
        layer=Layer(memory.layer),
        status=Status(memory.status),
        findings=len(memory.findings),
        contradictions=len(rivals.contradicting),
        duplicates=len(rivals.same),
    )
    try:
        return route(active.policy.for_scope(to_scope), parse_scope(memory.scope), to_scope, facts)
    except ValueError as error:
        raise Invalid(str(error), code="not_wider", field="to_scope") from None


def _approve_by_policy(
    memory: Memory, request: PromotionRequest, active: ActivePolicy, now: datetime
) -> None:
    actor = system(memory.tenant_id, f"policy.{active.number}")
    changes = Changes(actor, now, active)
    result = apply_promotion(changes, memory, request, "low risk, approved by policy")
    reviews.insert_decision(
        PromotionDecision(
            request_id=request.id,
            request_version=request.version,
            action="approve",
            at=now,
            reason="low risk, approved by policy",
            actor_id=actor.id,
            actor_name=actor.name,
            undo={"changes": changes.undo, "counts": changes.counts},
        )
    )
    reviews.close_request(request, "approved", now, result.id)
    changes.add(
        "promotion.approved",
        "promotion",
        show_id("prm", request.id),
        scope=request.to_scope,
        reason="approved by policy",
    )
    changes.finish()


def promotion_withdraw(principal: Principal, request_id: UUID) -> PromotionRequest:
    """Take one's own open request back."""
    now = clock.now()
    with tenant_context(principal.tenant_id):
        request = reviews.lock_request(request_id)
        if request is None or request.proposer_id != principal.id:
            raise NotFound("there is no such promotion request of yours")
        if request.status != "pending":
            raise Conflict(f"the request is already {request.status}", code="already_decided")
        reviews.close_request(request, "withdrawn", now, None)
        changes = Changes(principal, now, active_policy())
        changes.add("promotion.withdrawn", "promotion", show_id("prm", request.id), scope=request.to_scope)
        changes.finish()
    return request

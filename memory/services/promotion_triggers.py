"""Requests that open by themselves: after a user's confirmation, enough reproductions, or enough real uses."""

from __future__ import annotations

from datetime import datetime

from memory.domain.lifecycle import standing
from memory.domain.promotion import triggered
from memory.domain.scopes import Scope, ScopeKind, parse_scope
from memory.models import Memory, PromotionRequest
from memory.selectors.policies import ActivePolicy
from memory.services.promotion import open_request
from tenants.principals import Principal, system

_STEP_UP = {
    ScopeKind.AGENT: ScopeKind.SHARED,
    ScopeKind.USER: ScopeKind.SHARED,
    ScopeKind.PROJECT: ScopeKind.SHARED,
}


def open_triggered(
    principal: Principal, memory: Memory, active: ActivePolicy, now: datetime, *, confirmed: bool = False
) -> PromotionRequest | None:
    """Open a request if a trigger applies and none was ever made for this step; the request, if any.

    What lives in a session or task first becomes the agent role's own, the rest is offered to all.
    """
    if standing(memory.status, memory.expires_at, now, memory.valid_to) != "live":
        return None
    scope = parse_scope(memory.scope)
    policy = active.policy.for_scope(scope)
    trigger = triggered(policy, memory.reproductions, memory.use_count, confirmed)
    target = _target(scope, principal)
    if trigger is None or target is None:
        return None
    if PromotionRequest.objects.filter(memory_id=memory.id, to_scope=str(target)).exists():
        return None
    actor = system(principal.tenant_id, f"trigger.{trigger}", principal.request_id)
    return open_request(actor, memory, target, active, now, reason="", trigger=trigger)


def _target(scope: Scope, principal: Principal) -> Scope | None:
    if scope.kind in (ScopeKind.SESSION, ScopeKind.TASK):
        return Scope(ScopeKind.AGENT, principal.role) if principal.kind == "agent" else None
    wider = _STEP_UP.get(scope.kind)
    return Scope(wider) if wider else None

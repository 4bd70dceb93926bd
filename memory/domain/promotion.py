"""Widening a scope: how risky a request is, who must agree, who may decide, what opens a request by itself.

Finding duplicates and contradictions in the target scope, and storing decisions, happens elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory.domain.policy import Policy
from memory.domain.scopes import Scope, ScopeTier
from memory.domain.types import Kind, Layer, Status

Risk = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class PromotionFacts:
    """What is known about the memory when its promotion is routed."""

    trust: float
    confidence: float
    kind: Kind = Kind.FACT
    layer: Layer = Layer.SEMANTIC
    status: Status = Status.LIVE
    findings: int = 0
    contradictions: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """How a request is handled. `approvals_needed` counts people; 0 exactly when it is approved by policy."""

    auto_approve: bool
    approvals_needed: int
    risk: Risk
    why: tuple[str, ...]


def route(policy: Policy, from_scope: Scope, to_scope: Scope, facts: PromotionFacts) -> Tier:
    """Risk and approvals of one request; ValueError when the target is not wider than the source."""
    if to_scope.width <= from_scope.width:
        raise ValueError(f"{to_scope} is not wider than {from_scope}")
    rules = policy.promotion
    risk, why = _risk(policy, to_scope, facts)
    if risk == "low" and to_scope.kind in rules.auto_approve_into:
        return Tier(True, 0, risk, (*why, f"policy approves low risk into {to_scope.kind}"))
    needed = rules.approvals.get(to_scope.kind, 1)
    if to_scope.tier is ScopeTier.WIDE:
        why = (*why, f"{to_scope.kind} always needs a person")
    if risk == "high":
        needed = max(needed, rules.high_risk_approvals)
    return Tier(False, needed, risk, why)


def _risk(policy: Policy, to_scope: Scope, facts: PromotionFacts) -> tuple[Risk, tuple[str, ...]]:
    rules = policy.promotion
    grave = [
        text
        for text, applies in (
            (f"contradicts {facts.contradictions} in {to_scope}", facts.contradictions > 0),
            (f"{facts.findings} findings of sanitisation", facts.findings > 0),
            ("contested", facts.status is Status.CONTESTED),
            (
                "procedure from an origin of low trust",
                facts.kind is Kind.PROCEDURE and _distrusted(policy, facts),
            ),
        )
        if applies
    ]
    if grave:
        return "high", tuple(grave)
    mild = [
        text
        for text, applies in (
            (f"trust {facts.trust:g} is below {rules.auto_approve_min_trust:g}", _distrusted(policy, facts)),
            (
                f"confidence {facts.confidence:g} is below {rules.auto_approve_min_confidence:g}",
                facts.confidence < rules.auto_approve_min_confidence,
            ),
            ("working memory: no gate has read its wording", facts.layer is Layer.WORKING),
            (f"visible to everyone in {to_scope}", to_scope.tier is ScopeTier.WIDE),
        )
        if applies
    ]
    return ("medium", tuple(mild)) if mild else ("low", ("trusted, confident, contradicts nothing",))


def _distrusted(policy: Policy, facts: PromotionFacts) -> bool:
    return facts.trust < policy.promotion.auto_approve_min_trust


def may_decide(actor: str, proposer: str, *, actor_is_person: bool = True) -> bool:
    """Four eyes: a person, and never the one who asked."""
    return actor_is_person and actor != proposer


def triggered(policy: Policy, reproductions: int, uses: int, confirmed: bool) -> str | None:
    """The trigger that opens a request by itself: user_confirmation, reproductions, uses; or None."""
    rules = policy.promotion
    if confirmed and rules.trigger_on_confirmation:
        return "user_confirmation"
    if reproductions >= rules.trigger_reproductions:
        return "reproductions"
    return "uses" if uses >= rules.trigger_uses else None


def stale(request_version: int, memory_version: int) -> bool:
    """Whether the memory changed since the request: it must be validated again, never applied as it is."""
    return request_version != memory_version

"""One decision on several promotion requests: each on its own, and never where a person has to look closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.domain.promotion import may_decide
from memory.domain.scopes import parse_scope
from memory.models import Memory, PromotionRequest
from memory.selectors.rivals import rivals_in
from memory.services.errors import Conflict, Invalid, NotFound, ServiceError
from memory.services.promotion_decide import Decided, promotion_decide, promotion_undo
from tenants.context import tenant_context
from tenants.principals import Principal

MOST = 50


@dataclass(frozen=True, slots=True)
class Sorted:
    """One request of a selection; `why` says why it is left out, "" when it can be decided."""

    request: PromotionRequest
    memory: Memory
    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one request of a bulk decision."""

    request_id: UUID
    decided: Decided | None
    why: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of one decision that was to be taken back: its request, or why it stays."""

    decision_id: UUID
    request: PromotionRequest | None
    error: Conflict | NotFound | None


def bulk_sorted(actor: Principal, ids: Sequence[UUID], action: str) -> list[Sorted]:
    """The selected requests in their order, each with the reason that keeps it out."""
    with tenant_context(actor.tenant_id):
        rows = {row.id: row for row in PromotionRequest.objects.filter(id__in=list(ids)[:MOST])}
        memories = {row.id: row for row in Memory.objects.filter(id__in=[r.memory_id for r in rows.values()])}
        known = [(rows[one], memories[rows[one].memory_id]) for one in dict.fromkeys(ids) if one in rows]
        return [
            Sorted(request, memory, _left_out(actor, request, memory, action)) for request, memory in known
        ]


def promotions_decide(
    actor: Principal, items: Sequence[tuple[UUID, int]], action: str, reason: str
) -> list[Done]:
    """Decide each request at the version that the reviewer saw; those that are left out say why.

    Raises `Invalid` for an unknown action and for a rejection without a reason, before anything is decided.
    """
    if action not in ("approve", "reject"):
        raise Invalid("several requests can be approved or rejected together", field="action")
    if action == "reject" and not reason.strip():
        raise Invalid("give a reason: every proposer sees it", code="reason_needed", field="reason")
    found = {one.request.id: one for one in bulk_sorted(actor, [one for one, _ in items], action)}
    return [
        _one(actor, found[request_id], action, reason, version)
        for request_id, version in items
        if request_id in found
    ]


def promotions_undo(actor: Principal, decision_ids: Sequence[UUID]) -> list[Undone]:
    """Take one's own decisions back, the last one first; those that cannot be taken back say why.

    Raises `Denied` without a reviewing role, before anything is taken back.
    """
    return [_back(actor, one) for one in reversed(list(dict.fromkeys(decision_ids))[:MOST])]


def _back(actor: Principal, decision_id: UUID) -> Undone:
    try:
        request = promotion_undo(actor, decision_id)
    except (Conflict, NotFound) as error:
        return Undone(decision_id, None, error)
    return Undone(decision_id, request, None)


def _one(actor: Principal, one: Sorted, action: str, reason: str, version: int) -> Done:
    if one.why:
        return Done(one.request.id, None, one.why)
    try:
        decided = promotion_decide(actor, one.request.id, action, reason=reason, version=version)
    except ServiceError as error:
        return Done(one.request.id, None, error.detail)
    return Done(one.request.id, decided, "")


def _left_out(actor: Principal, request: PromotionRequest, memory: Memory, action: str) -> str:
    if request.status != "pending":
        return f"it is {request.status} already"
    if action != "approve":
        return ""
    if not may_decide(actor.id, request.proposer_id):
        return "you proposed it yourself"
    if request.risk == "high":
        return "high risk is decided one by one"
    if rivals_in(memory, parse_scope(request.to_scope)).contradicting:
        return "it conflicts with what the target scope knows"
    return ""

"""Taking an approval back after its undo: of the policy, of another reviewer, of long ago."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from memgov import clock
from memory.domain.scopes import parse_scope
from memory.models import AuditEvent, Memory, PromotionDecision, PromotionRequest
from memory.services import retention
from memory.services.audit_verify import audit_verify
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.promotion_take_back import promotion_take_back
from tests.factories import Stage, make_person
from tests.services.test_promotion import SHARED, ask, stage, write

__all__ = ["stage"]
pytestmark = pytest.mark.usefixtures("database")


def closing(stage: Stage, request_id: UUID) -> PromotionDecision:
    with stage.context():
        found: PromotionDecision = PromotionDecision.objects.get(request_id=request_id, undone_at=None)
    return found


def scope_of(stage: Stage, memory: Memory) -> str:
    with stage.context():
        return str(Memory.objects.get(id=memory.id).scope)


def test_take_back__approved_by_policy__by_any_reviewer_months_later(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.", scope=None)
    before = scope_of(stage, memory)
    request = promotion_request(
        stage.coder.principal, memory.id, parse_scope("project:alpha"), "for the crew"
    )
    assert scope_of(stage, memory) == "project:alpha" != before, "the policy did it"
    decision = closing(stage, request.id)
    with clock.moved_to(clock.now() + timedelta(days=60)):
        with pytest.raises(Invalid) as missing:
            promotion_take_back(stage.reviewer.principal, decision.id, "  ")
        assert missing.value.code == "reason_needed"
        again = promotion_take_back(stage.reviewer.principal, decision.id, "it holds for one crew only")
    assert (again.status, again.approvals_needed) == ("pending", 1)
    assert scope_of(stage, memory) == before
    with stage.context():
        event = AuditEvent.objects.get(action="promotion.reopened")
        assert event.reason == "it holds for one crew only" and event.actor_id == stage.reviewer.principal.id
    assert audit_verify(stage.tenant.id).report.ok


def test_take_back__of_another_reviewer__brings_back_what_it_replaced(stage: Stage) -> None:
    key = {"subject": "press", "predicate": "region"}
    there = write(stage.orchestrator.principal, scope="shared", value="north-cove", **key)
    request = ask(stage, write(stage.coder.principal, value="south-cove", **key))
    decided = promotion_decide(stage.reviewer.principal, request.id, "approve", reason="it moved", version=1)
    promotion_take_back(stage.owner.principal, decided.decision.id, "it had not moved")
    with stage.context():
        assert Memory.objects.get(id=there.id).status == "live"
        assert PromotionRequest.objects.get(id=request.id).status == "pending"
    with pytest.raises(Conflict):
        promotion_take_back(stage.owner.principal, decided.decision.id, "once more")


def test_take_back__by_whom_it_is_not_for__denied_audited_and_nothing_changed(stage: Stage) -> None:
    memory = write(stage.reviewer.principal, "The press halls open at seven.", origin="user_explicit")
    request = promotion_request(stage.reviewer.principal, memory.id, SHARED, "mine")
    decided = promotion_decide(stage.owner.principal, request.id, "approve", version=1)
    auditor = make_person(stage.tenant, "auditor").principal
    for principal in (stage.reviewer.principal, auditor, stage.coder.principal):
        with pytest.raises(Denied):
            promotion_take_back(principal, decided.decision.id, "please")
    assert scope_of(stage, memory) == "shared"
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied").count() == 3


def test_take_back__something_in_its_way__refused(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    decided = promotion_decide(stage.reviewer.principal, ask(stage, memory).id, "approve", version=1)
    retention.memory_pin(stage.owner.principal, memory.id, "needed daily")
    with pytest.raises(Conflict) as changed:
        promotion_take_back(stage.owner.principal, decided.decision.id, "wrong")
    assert changed.value.code == "changed_since"
    rejected = promotion_decide(
        stage.reviewer.principal, ask(stage, write(stage.coder.principal, "The halls close at nine.")).id,
        "reject", reason="no", version=1,
    )  # fmt: skip
    with pytest.raises(NotFound):
        promotion_take_back(stage.owner.principal, rejected.decision.id, "wrong")
    assert scope_of(stage, memory) == "shared"

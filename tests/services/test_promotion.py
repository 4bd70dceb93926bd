"""Promotions: bound to a version, never by oneself, raced by nobody, and undone exactly."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.domain.scopes import parse_scope
from memory.models import AuditEvent, Memory, PromotionDecision, PromotionRequest
from memory.services import retention
from memory.services.errors import Conflict, Denied, Invalid, NotFound, ServiceError
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.promotion import promotion_request, promotion_withdraw
from memory.services.promotion_decide import Stale, promotion_decide, promotion_undo
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tenants.principals import Principal
from tests.factories import Stage, make_agent, make_person, make_tenant
from tests.parallel import at_once

pytestmark = pytest.mark.usefixtures("database")

SHARED = parse_scope("shared")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(principal: Principal, content: str | None = None, **fields: object) -> Memory:
    fields.setdefault("scope", "project:alpha")
    fields.setdefault("origin", "tool_verified")
    outcome = memory_write(principal, WriteRequest(content=content, **fields))  # type: ignore[arg-type]
    assert outcome.memory is not None, outcome
    return outcome.memory


def ask(stage: Stage, memory: Memory) -> PromotionRequest:
    return promotion_request(
        stage.coder.principal, memory.id, SHARED, "all crews ask", version=memory.version
    )


def seen_by_stranger(stage: Stage, query: str) -> list[str]:
    stranger = make_agent(stage.tenant, "research").principal
    return [entry.found.content for entry in memory_retrieve(stranger, RetrieveRequest(query=query)).entries]


def test_promotion__before_and_after_approval__unseen_then_seen(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    request = ask(stage, memory)
    assert (request.status, request.approvals_needed) == ("pending", 1)
    assert seen_by_stranger(stage, "press halls") == []
    decided = promotion_decide(stage.reviewer.principal, request.id, "approve", version=1)
    assert (decided.request.status, decided.memory.scope, decided.memory.id) == (
        "approved",
        "shared",
        memory.id,
    )
    assert seen_by_stranger(stage, "press halls") == ["The press halls open at seven."]


def test_promotion__low_risk_into_project__approved_by_policy_and_audited(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.", scope=None)
    request = promotion_request(
        stage.coder.principal, memory.id, parse_scope("project:alpha"), "for the crew"
    )
    with stage.context():
        assert PromotionRequest.objects.get(id=request.id).status == "approved"
        assert Memory.objects.get(id=memory.id).scope == "project:alpha"
        event = AuditEvent.objects.get(action="promotion.approved")
        assert (event.actor_kind, event.actor_name) == ("system", "policy.1")


def test_promotion__same_fact_in_target__merged_into_it(stage: Stage) -> None:
    there = write(
        stage.orchestrator.principal, "The press halls open at seven.", scope="shared", session="s1"
    )
    memory = write(stage.coder.principal, "The press halls open at seven.", session="s2")
    decided = promotion_decide(stage.reviewer.principal, ask(stage, memory).id, "approve", version=1)
    assert decided.memory.id == there.id
    with stage.context():
        assert Memory.objects.get(id=memory.id).merged_into == there.id
        assert Memory.objects.filter(status="live").count() == 1
        assert Memory.objects.get(id=there.id).also_learned_in == ["s2"], "provenance lists both"
    promotion_undo(stage.reviewer.principal, decided.decision.id)
    with stage.context():
        assert Memory.objects.get(id=memory.id).status == "live"
        assert Memory.objects.get(id=there.id).also_learned_in == [], "the counters are as they were"


def test_promotion__other_value_in_target__high_risk_reason_needed_and_superseded(stage: Stage) -> None:
    key = {"subject": "press", "predicate": "region"}
    there = write(stage.orchestrator.principal, scope="shared", value="north-cove", **key)
    request = ask(stage, write(stage.coder.principal, value="south-cove", **key))
    assert request.risk == "high"
    with pytest.raises(Invalid) as missing:
        promotion_decide(stage.reviewer.principal, request.id, "approve", version=1)
    assert missing.value.code == "reason_needed"
    decided = promotion_decide(stage.reviewer.principal, request.id, "approve", reason="it moved", version=1)
    with stage.context():
        assert Memory.objects.get(id=there.id).superseded_by == decided.memory.id
    promotion_undo(stage.reviewer.principal, decided.decision.id)
    with stage.context():
        assert {(row.scope, row.value) for row in Memory.objects.filter(status="live")} == {
            ("shared", "north-cove"), ("project:alpha", "south-cove"),
        }  # fmt: skip
        assert PromotionRequest.objects.get(id=request.id).status == "pending"


def test_decide__by_its_proposer_or_without_the_role__denied_audited_nothing_changed(stage: Stage) -> None:
    memory = write(stage.reviewer.principal, "The press halls open at seven.", origin="user_explicit")
    own = promotion_request(stage.reviewer.principal, memory.id, SHARED, "mine")
    auditor = make_person(stage.tenant, "auditor").principal
    for principal in (stage.reviewer.principal, auditor, stage.coder.principal):
        with pytest.raises(Denied):
            promotion_decide(principal, own.id, "approve", reason="please", version=1)
    with stage.context():
        assert PromotionRequest.objects.get(id=own.id).version == 1
        assert not PromotionDecision.objects.exists()
        assert AuditEvent.objects.filter(action="access.denied").count() == 3
    promotion_decide(stage.owner.principal, own.id, "approve", version=1)


def test_decide__memory_changed_since__nothing_applied_and_request_brought_up_to_date(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    request = ask(stage, memory)
    memory_edit(stage.coder.principal, memory.id, {"content": "The press halls open at eight."}, version=1)
    with pytest.raises(Stale) as stale:
        promotion_decide(stage.reviewer.principal, request.id, "approve", version=1)
    assert stale.value.code == "memory_changed"
    with stage.context():
        row = PromotionRequest.objects.get(id=request.id)
        assert (row.status, row.memory_version, row.version) == ("pending", 2, 2)
        assert Memory.objects.get(id=memory.id).scope == "project:alpha"
    assert (
        promotion_decide(stage.reviewer.principal, request.id, "approve", version=2).memory.scope == "shared"
    )


def test_decide__two_reviewers_at_once__one_decision(stage: Stage) -> None:
    request = ask(stage, write(stage.coder.principal, "The press halls open at seven."))

    def call(principal: Principal, action: str) -> str:
        try:
            return promotion_decide(principal, request.id, action, reason="seen", version=1).request.status
        except ServiceError as error:
            return error.code

    answers = at_once(
        [lambda: call(stage.reviewer.principal, "approve"), lambda: call(stage.owner.principal, "reject")]
    )
    assert sorted(answers)[0] == "already_decided" and len(set(answers)) == 2
    with stage.context():
        assert PromotionDecision.objects.count() == 1


def test_undo__late_or_changed_or_anothers__refused(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    decided = promotion_decide(stage.reviewer.principal, ask(stage, memory).id, "approve", version=1)
    with pytest.raises(NotFound):
        promotion_undo(stage.owner.principal, decided.decision.id)
    with clock.moved_to(clock.now() + timedelta(minutes=11)), pytest.raises(Conflict) as late:
        promotion_undo(stage.reviewer.principal, decided.decision.id)
    assert late.value.code == "undo_too_late"
    retention.memory_pin(stage.owner.principal, memory.id, "needed daily")
    with pytest.raises(Conflict) as changed:
        promotion_undo(stage.reviewer.principal, decided.decision.id)
    assert changed.value.code == "changed_since"
    with stage.context():
        assert Memory.objects.get(id=memory.id).scope == "shared"


def test_request__open_twice__refused_until_withdrawn(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    first = ask(stage, memory)
    with pytest.raises(Conflict) as twice:
        ask(stage, memory)
    assert twice.value.code == "promotion_open"
    with pytest.raises(NotFound):
        promotion_withdraw(stage.orchestrator.principal, first.id)
    promotion_withdraw(stage.coder.principal, first.id)
    assert ask(stage, memory).status == "pending"


def test_request__not_wider_or_not_visible__refused(stage: Stage) -> None:
    memory = write(stage.orchestrator.principal, "The harbour closes at nine.", scope="shared")
    with pytest.raises(Invalid):
        promotion_request(stage.orchestrator.principal, memory.id, parse_scope("project:alpha"), "narrower")
    hidden = write(stage.orchestrator.principal, "The harbour closes at ten.", scope="project:beta")
    with pytest.raises(NotFound):
        promotion_request(stage.coder.principal, hidden.id, SHARED, "unseen")


def test_triggers__ten_uses__open_a_request_once(stage: Stage) -> None:
    write(stage.coder.principal, "The press halls open at seven.", scope=None)
    for _ in range(11):
        found = memory_retrieve(stage.coder.principal, RetrieveRequest(query="press halls"))
        usage_report(stage.coder.principal, found.manifest.id, [found.entries[0].found.id])
    with stage.context():
        request = PromotionRequest.objects.get()
        assert (request.trigger, request.proposer_kind, request.to_scope) == ("uses", "system", "shared")

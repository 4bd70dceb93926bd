"""Asking for a wider scope over the API."""

from __future__ import annotations

from typing import Any

from memory.models import Memory, PromotionRequest
from memory.services.promotion_decide import promotion_decide
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_agent

TEXT = "The staging gateway of alpha listens on port 8443."


def ask(promoted: dict[str, object], **more: object) -> dict[str, object]:
    return {"memory": promoted["id"], "to_scope": "shared", "reason": "used by three teams", **more}


def test_promotion__asked_for__waits_for_a_person_and_is_followed(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)
    response = coder.post("promotions", ask(memory, version=1))
    assert response.status_code == 201, response.content
    made = response.json()
    assert made["status"] == "pending" and made["to_scope"] == "shared" and made["approvals_needed"] >= 1
    assert made["proposer"]["id"] == stage.coder.principal.id and made["decisions"] == []
    assert response["Location"] == f"/api/v1/promotions/{made['id']}"
    promotion_decide(
        stage.reviewer.principal, as_uuid(made["id"]), "approve", reason="good", version=made["version"]
    )
    seen = coder.get(f"promotions/{made['id']}").json()
    assert seen["status"] == "approved" and seen["result"] == memory["id"]
    assert [one["action"] for one in seen["decisions"]] == ["approve"]
    assert coder.get(f"memories/{memory['id']}").json()["scope"] == "shared"


def test_promotion__low_risk_into_project__is_approved_by_policy(coder: Caller) -> None:
    memory = coder.remember(TEXT, scope="user:7")
    made = coder.post("promotions", ask(memory, to_scope="project:alpha")).json()
    assert made["status"] == "approved" and made["decisions"][0]["actor"].startswith("policy.")


def test_promotion__bad_requests__change_nothing(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)

    def post(body: dict[str, object]) -> Any:
        return coder.post("promotions", body)

    assert_problem(post(ask(memory, version=7)), 412, "version_conflict")
    assert_problem(post(ask(memory, to_scope="session:x")), 400, "not_wider")
    assert_problem(post(ask(memory, to_scope="nowhere")), 400, "invalid")
    assert_problem(post(ask(memory, memory="mem_" + "0" * 32)), 404, "not_found")
    assert_problem(post({"memory": memory["id"], "to_scope": "shared"}), 400, "invalid")
    reader = Caller(make_agent(stage.tenant, "reader", ["project:alpha=r"]))
    assert_problem(reader.post("promotions", ask(memory)), 403, "scope_denied")
    with stage.context():
        assert not PromotionRequest.objects.exists()
        assert Memory.objects.get().scope == "project:alpha"


def test_withdraw__own_open_request__once(stage: Stage, coder: Caller, orchestrator: Caller) -> None:
    made = coder.post("promotions", ask(coder.remember(TEXT))).json()
    assert_problem(orchestrator.post(f"promotions/{made['id']}/withdraw", {}), 404, "not_found")
    assert_problem(coder.post(f"promotions/{made['id']}/withdraw", {"why": 1}), 400, "unknown_field")
    assert coder.post(f"promotions/{made['id']}/withdraw").json()["status"] == "withdrawn"
    assert_problem(coder.post(f"promotions/{made['id']}/withdraw"), 409, "already_decided")


def test_list__filters_and_hides_what_the_key_may_not_read(
    stage: Stage, coder: Caller, orchestrator: Caller
) -> None:
    mine = coder.post("promotions", ask(coder.remember(TEXT))).json()
    theirs = orchestrator.post("promotions", ask(orchestrator.remember(TEXT, scope="project:beta"))).json()

    def listed(caller: Caller, query: str = "") -> set[str]:
        return {row["id"] for row in caller.get(f"promotions{query}").json()["results"]}

    assert listed(coder) == {mine["id"]}
    assert_problem(coder.get(f"promotions/{theirs['id']}"), 404, "not_found")
    assert listed(orchestrator) == {mine["id"], theirs["id"]}
    assert listed(orchestrator, "?mine=true") == {theirs["id"]}
    assert listed(orchestrator, f"?memory={mine['memory']}") == {mine["id"]}
    assert listed(orchestrator, "?status=approved,rejected") == set()
    assert listed(orchestrator, "?to_scope=global") == set()

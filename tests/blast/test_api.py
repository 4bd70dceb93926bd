"""The blast radius over the API."""

from __future__ import annotations

import pytest

from memory.services.blast import blast_run
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_tenant

TEXT = "The pump house pressure valve is serviced in spring."


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


@pytest.fixture
def chief(stage: Stage) -> Caller:
    return Caller(stage.orchestrator)


def test_reach__of_a_tool__has_counts_relations_readers_and_no_text(stage: Stage, chief: Caller) -> None:
    first = Caller(stage.coder).remember(TEXT, tool="cam", session="s1")
    second = chief.remember("Two technicians are needed for that valve.", derived_from=[first["id"]])
    chief.post("retrieve", {"query": "when is the pump house valve serviced", "session": "s7"})
    answer = chief.get("blast?tool=cam")
    body = answer.json()
    assert answer.status_code == 200
    assert {one["id"]: one["relation"] for one in body["memories"]} == {
        first["id"]: "written",
        second["id"]: "derived",
    }
    assert (body["counts"]["written"], body["counts"]["derived"], body["counts"]["manifests"]) == (1, 1, 1)
    assert (
        body["sessions"][0]["session"] == "s7"
        and body["agents"][0]["agent"] == f"agt_{stage.orchestrator.agent.id.hex}"
    )
    assert TEXT not in answer.content.decode()


def test_reach__page_by_page__meets_every_memory_once(chief: Caller) -> None:
    ids = [chief.remember(text, tool="cam")["id"] for text in (
        TEXT, "The archive of the harbour is in the north wing.", "Mill four delivers paper on Mondays.")]  # fmt: skip
    found, address = [], "blast?tool=cam&page_size=2"
    while address:
        body = chief.get(address.removeprefix("http://testserver")).json()
        found += [one["id"] for one in body["memories"]]
        address = body["next"]
    assert found == ids[::-1]


def test_quarantine__and_undo__are_jobs_of_the_agent(stage: Stage, chief: Caller) -> None:
    memory = Caller(stage.coder).remember(TEXT, tool="cam")["id"]
    seen = chief.get("blast?tool=cam").json()["seen"]
    job = chief.post("blast/quarantine", {"tool": "cam", "seen": seen, "reason": "forged"})
    assert (job.status_code, job.json()["status"], job.json()["total"]) == (202, "queued", 1)
    shown = job.json()["id"]
    blast_run(stage.tenant.id, as_uuid(shown))
    assert chief.get(f"jobs/{shown}").json()["status"] == "done"
    assert chief.get(f"memories/{memory}").json()["status"] == "quarantined"
    back = chief.post(f"blast/steps/{shown}/undo", {})
    assert back.status_code == 202
    blast_run(stage.tenant.id, as_uuid(back.json()["id"]))
    assert chief.get(f"memories/{memory}").json()["status"] == "live"
    assert_problem(chief.post(f"blast/steps/{shown}/undo", {}), 409, "already_decided")
    assert_problem(chief.post(f"blast/steps/{back.json()['id']}/undo", {}), 404, "not_found")


def test_blast__without_the_grant_or_a_seed__is_refused(stage: Stage, chief: Caller) -> None:
    coder = Caller(stage.coder)
    memory = coder.remember(TEXT, tool="cam")["id"]
    assert_problem(coder.get(f"blast?memory={memory}"), 403, "scope_denied")
    assert_problem(coder.post("blast/quarantine", {"memory": memory, "reason": "x"}), 403, "scope_denied")
    assert_problem(chief.get("blast"), 400, "seed_needed")
    assert_problem(chief.get("blast?memory=mem_1"), 400, "invalid")
    assert_problem(chief.post("blast/quarantine", {"reason": "x"}), 400, "seed_needed")
    assert_problem(chief.post("blast/quarantine", {"tool": "cam", "reason": " "}), 400, "reason_needed")
    assert_problem(chief.post("blast/quarantine", {"tool": "none", "reason": "x"}), 409, "nothing_to_do")
    assert coder.get(f"memories/{memory}").json()["status"] == "live"

"""`POST memories/delete` as agents call it."""

from __future__ import annotations

from typing import Any

import pytest

from memory.domain.ids import parse_id
from memory.models import Memory
from memory.services import deletion_steps
from memory.services.deletion_steps import deletion_run
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage, make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")
PLACE = "memories/delete"


@pytest.fixture
def stage() -> Stage:
    return make_tenant()


@pytest.fixture
def coder(stage: Stage) -> Caller:
    return Caller(stage.coder)


def ask(caller: Caller, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = caller.post(PLACE, {"reason": "a test run", **body})
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()
    return found


def live(stage: Stage) -> int:
    with stage.context():
        return Memory.objects.filter(status="live").count()


def test_ids__valid_unknown_and_gone__each_is_told(stage: Stage, coder: Caller) -> None:
    first, second = (coder.remember(f"The {word} gate opens at seven.")["id"] for word in ("north", "south"))
    ask(coder, ids=[second])
    unknown = "mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1"
    done = ask(coder, ids=[first, unknown, second, first])
    assert (done["deleted"], done["not_found"], done["already"]) == (1, [unknown], [second])
    assert [one["id"] for one in done["memories"]] == [first] and done["step"].startswith("job_")
    problem = assert_problem(coder.post(PLACE, {"ids": [unknown], "reason": "r"}), 404, "not_found")
    assert problem["not_found"] == [unknown]
    problem = assert_problem(coder.post(PLACE, {"ids": [first], "reason": "r"}), 409, "nothing_to_do")
    assert problem["already"] == [first] and live(stage) == 0


def test_nothing_named__is_refused_and_nothing_goes(stage: Stage, coder: Caller) -> None:
    coder.remember("The north gate opens at seven.")
    for body in ({}, {"filter": {}}, {"ids": []}, {"filter": {"scope": []}}, {"ids": [], "filter": {}}):
        assert_problem(coder.post(PLACE, {"reason": "r", **body}), 400, "filter_needed")
    assert_problem(coder.post(PLACE, {"filter": {"subjekt": "x"}, "reason": "r"}), 400, "unknown_field")
    assert_problem(coder.post(PLACE, {"filter": {"session": "s"}}), 400, "invalid")
    for name in ("session", "task", "tool", "subject", "predicate", "agent", "q"):
        zeros = {name: "\x00", "kind": ["fact"]}  # else whatever has no session, task …
        assert_problem(coder.post(PLACE, {"filter": zeros, "reason": "r"}), 400, "invalid")
    assert live(stage) == 1
    assert_problem(coder.post(PLACE, {"filter": {"session": "s"}, "reason": " "}), 400, "reason_needed")
    assert_problem(coder.post(PLACE, {"ids": ["mem_1"], "reason": "r"}), 400, "invalid")
    both = {"ids": ["mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1"], "filter": {"session": "s"}, "reason": "r"}
    assert_problem(coder.post(PLACE, both), 400, "ids_or_filter")
    assert_problem(coder.post(PLACE, {"filter": {"agent": "agt_x"}, "reason": "r"}), 400, "invalid_id")
    assert_problem(coder.post(PLACE, {"filter": {"session": "none"}, "reason": "r"}), 409, "nothing_to_do")
    assert live(stage) == 1


@pytest.mark.parametrize(
    ("condition", "gone"),
    [
        ({"subject": "user:1"}, {"a"}), ({"predicate": "plan"}, {"a", "b"}), ({"session": "s-2"}, {"b"}),
        ({"scope": ["project:alpha"]}, {"a", "b"}), ({"scope": ["agent:coder", "shared"]}, {"c"}),
        ({"origin": ["tool_verified"]}, {"c"}), ({"kind": ["procedure"]}, {"c"}), ({"tool": "cam"}, {"c"}),
        ({"q": "gate"}, {"c"}), ({"recorded_after": "2020-01-01T00:00:00Z"}, {"a", "b", "c"}),
        ({"subject": "user:2", "predicate": "plan", "status": ["live"]}, {"b"}),
    ],
)  # fmt: skip
def test_filter__takes_what_the_list_shows__and_nothing_else(
    stage: Stage, coder: Caller, condition: dict[str, Any], gone: set[str]
) -> None:
    ids = {
        "a": coder.know("user:1", "plan", "team", session="s-1")["id"],
        "b": coder.know("user:2", "plan", "enterprise", session="s-2")["id"],
        "c": coder.remember("The north gate opens at seven.", scope="agent:coder", kind="procedure",
                            origin="tool_verified", tool="cam")["id"],
    }  # fmt: skip
    query = "&".join(
        f"{name}={','.join([value] if isinstance(value, str) else value)}"
        for name, value in condition.items()
    )
    listed = {row["id"] for row in coder.get(f"memories?{query}").json()["results"]}
    assert listed == {ids[name] for name in gone}
    look = ask(coder, filter=condition, dry_run=True)
    assert (look["deleted"], look["matched"], look["step"]) == (0, len(gone), None) and live(stage) == 3
    assert {one["id"] for one in look["memories"]} == listed
    assert ask(coder, filter=condition, seen=look["seen"], seal=look["seal"])["deleted"] == len(gone)
    for name, ident in ids.items():
        assert (coder.get(f"memories/{ident}").json()["status"] == "deleted") == (name in gone)


def test_seal__of_another_set__is_412(stage: Stage, coder: Caller) -> None:
    coder.remember("The north gate opens at seven.", session="s")
    look = ask(coder, filter={"session": "s"}, dry_run=True)
    coder.remember("The south gate opens at nine.", session="s")
    body = {"filter": {"session": "s"}, "reason": "r", "seal": look["seal"]}
    assert_problem(coder.post(PLACE, body), 412, "version_conflict")
    assert live(stage) == 2


def test_others_memories__take_a_write_grant_on_everything(stage: Stage, coder: Caller) -> None:
    other = Caller(make_agent(stage.tenant, "coder", ["project:alpha=rw"]))
    ident = other.remember("The north gate opens at seven.")["id"]
    problem = assert_problem(coder.post(PLACE, {"ids": [ident], "reason": "r"}), 403, "scope_denied")
    assert problem["left_named"] == [{"memory": ident, "reason": "not_own"}]
    assert_problem(coder.post(PLACE, {"filter": {"q": "gate"}, "reason": "r"}), 403, "scope_denied")
    assert live(stage) == 1
    assert ask(Caller(stage.orchestrator), ids=[ident])["deleted"] == 1


def test_large__is_a_job_that_is_followed_and_taken_back(
    stage: Stage, coder: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    for word in ("north", "south"):
        coder.remember(f"The {word} gate opens at seven.", session="s")
    answer = coder.post(PLACE, {"filter": {"session": "s"}, "reason": "a test run"})
    assert answer.status_code == 202
    job = answer.json()
    assert answer["Location"].endswith(f"/api/v1/jobs/{job['id']}") and (job["done"], job["total"]) == (0, 2)
    assert deletion_run(stage.tenant.id, parse_id("job", job["id"])) == "done"
    ended = coder.get(f"jobs/{job['id']}").json()
    assert (ended["status"], ended["done"], ended["result"]["left"]) == ("done", 2, 0)
    back = coder.post(f"memories/delete/{job['id']}/undo", {})
    assert back.status_code == 202
    assert deletion_run(stage.tenant.id, parse_id("job", back.json()["id"])) == "done"
    assert live(stage) == 2
    assert_problem(coder.post(f"memories/delete/{job['id']}/undo", {}), 409, "already_decided")
    assert_problem(coder.post("memories/delete/job_1/undo", {}), 404, "not_found")
    stranger = Caller(make_tenant().orchestrator)
    assert_problem(stranger.post(f"memories/delete/{job['id']}/undo", {}), 404, "not_found")


def test_sent_again_with_its_key__deletes_once_and_answers_the_same(stage: Stage, coder: Caller) -> None:
    ident = coder.remember("The north gate opens at seven.")["id"]
    body = {"ids": [ident], "reason": "r"}
    first = coder.post(PLACE, body, Idempotency_Key="k-1")
    again = coder.post(PLACE, body, Idempotency_Key="k-1")
    assert (
        again.status_code == 200 and again.json() == first.json() and again["Idempotent-Replayed"] == "true"
    )

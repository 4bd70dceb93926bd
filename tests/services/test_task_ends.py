"""How a task ends: what a complete one leaves, and what a rollback takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory.domain.audit_chain import verify
from memory.models import AuditEvent, Contradiction, Memory, MemoryIndex, WriteDecision
from memory.selectors import audit as audit_selectors
from memory.services import task_complete as completing
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.memory_write import memory_write
from memory.services.task_complete import TaskEnd, task_complete
from memory.services.task_rollback import task_rollback, task_rollback_undo
from memory.services.working import (
    working_list,
)
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant
from tests.killed import Killed
from tests.parallel import at_once
from tests.services.doing_tasks import put, statuses, write

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def steps(stage: Stage) -> None:
    put(stage, "step_1", "The export of the ledger has twelve columns.", succeeded=True, importance=0.9)
    put(stage, "step_2", {"tried": "the old endpoint"}, succeeded=False)
    put(stage, "step_3", {"rows": 12}, summary="The ledger service answers in pages of 40 rows.")


def test_complete__successful_steps_become_episodic__the_rest_one_episode(stage: Stage) -> None:
    steps(stage)
    run = task_complete(
        stage.coder.principal, "t1", TaskEnd(summary="Exported the ledger", succeeded=["step_3"])
    )
    assert run.result["counts"] == {"stored": 2}, run.result
    assert run.result["episode"]["outcome"] == "stored", run.result
    assert working_list(stage.coder.principal, "t1") == []
    with stage.context():
        rows = list(Memory.objects.order_by("id"))
        assert {(row.scope, row.layer, row.kind, row.task) for row in rows} == {
            ("agent:coder", "episodic", "event", "t1")
        }
        assert rows[0].importance == 0.9
        episode = rows[2]
        assert episode.derived_from == [rows[0].id, rows[1].id]
        told = episode.metadata["episode"]["steps"]
        assert [(one["key"], one["succeeded"], one["remembered"]) for one in told] == [
            ("step_1", True, True), ("step_2", False, False), ("step_3", True, True),
        ]  # fmt: skip
        assert AuditEvent.objects.filter(action="task.completed").count() == 1
        assert verify(audit_selectors.chain(), audit_selectors.checkpoints()).ok


def test_complete__asked_again__same_answer_and_nothing_new(stage: Stage) -> None:
    steps(stage)
    first = task_complete(stage.coder.principal, "t1", TaskEnd())
    again = task_complete(stage.coder.principal, "t1", TaskEnd(summary="another word"))
    assert again.result == first.result
    with pytest.raises(Conflict, match="completed"):
        put(stage, "step_9", "late")
    with stage.context():
        assert Memory.objects.count() == 2


def test_complete__killed_anywhere_and_asked_again__each_memory_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps(stage)
    real = memory_write
    for survives in range(3):
        left = [survives]

        def dying(principal: Any, request: Any, left: list[int] = left) -> Outcome:
            outcome = real(principal, request)
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return outcome

        monkeypatch.setattr(completing, "memory_write", dying)
        if survives < 2:
            with pytest.raises(Killed):
                task_complete(stage.coder.principal, "t1", TaskEnd())
    monkeypatch.setattr(completing, "memory_write", real)
    run = task_complete(stage.coder.principal, "t1", TaskEnd())
    assert run.status == "completed"
    with stage.context():
        assert Memory.objects.filter(status="live").count() == 2
        assert Memory.objects.count() == 2


def test_complete__unknown_step_or_task__refused(stage: Stage) -> None:
    steps(stage)
    with pytest.raises(Invalid, match="step_7"):
        task_complete(stage.coder.principal, "t1", TaskEnd(succeeded=["step_7"]))
    with pytest.raises(NotFound):
        task_complete(stage.coder.principal, "t77", TaskEnd())
    assert len(working_list(stage.coder.principal, "t1")) == 3


def plan(stage: Stage, value: str, **fields: Any) -> Outcome:
    return write(stage, subject="user:42", predicate="plan", value=value, scope="user:42", **fields)


def test_rollback__removes_what_the_task_wrote_and_what_it_replaced_stands_again(stage: Stage) -> None:
    old = plan(stage, "pro", session="s1")
    known = write(stage, "The press halls open at seven in the morning.", session="s1")
    with stage.context():
        before = Memory.objects.filter(id=known.memory.id).values().get()  # type: ignore[union-attr]
    plan(stage, "team", task="t1", session="s2")
    plan(stage, "enterprise", task="t1", session="s2")
    write(stage, "The press halls open at seven in the morning.", task="t1", session="s2")
    write(stage, "Mill four delivers paper on Mondays.", task="t1", scope=None)
    put(stage, "step_1", "x")
    run = task_rollback(stage.coder.principal, "t1", "wrong customer")
    assert statuses(stage) == {
        "user:42 plan: pro": "live", "user:42 plan: team": "deleted", "user:42 plan: enterprise": "deleted",
        "The press halls open at seven in the morning.": "live", "Mill four delivers paper on Mondays.": "deleted",
    }  # fmt: skip
    assert (len(run.result["removed"]), len(run.result["restored"]), run.result["left"]) == (3, 1, [])
    with stage.context():
        row = Memory.objects.get(id=old.memory.id)  # type: ignore[union-attr]
        assert (row.superseded_by, row.status_reason) == (None, "")
        after = Memory.objects.filter(id=known.memory.id).values().get()  # type: ignore[union-attr]
        assert after == before, "the confirmation is taken back exactly"
        assert MemoryIndex.objects.count() == 2
        assert AuditEvent.objects.filter(action="task.rolled_back").count() == 1
        assert verify(audit_selectors.chain(), audit_selectors.checkpoints()).ok
    assert working_list(stage.coder.principal, "t1") == []
    assert task_rollback(stage.coder.principal, "t1").result == run.result, "asking again changes nothing"
    with pytest.raises(Conflict, match="rolled back"):
        plan(stage, "free", task="t1")


def test_rollback__taken_back__everything_is_as_before(stage: Stage) -> None:
    plan(stage, "pro")
    plan(stage, "team", task="t1")
    write(stage, "Mill four delivers paper on Mondays.", session="s1")
    write(stage, "Mill four delivers paper on Mondays.", session="s2", task="t1")
    put(stage, "step_1", "x")
    before = statuses(stage)
    task_rollback(stage.coder.principal, "t1")
    assert statuses(stage) != before
    task_rollback_undo(stage.coder.principal, "t1")
    assert statuses(stage) == before
    assert [row.key for row in working_list(stage.coder.principal, "t1")] == ["step_1"]
    with stage.context():
        assert Memory.objects.get(content__startswith="Mill").reproductions == 1
    with pytest.raises(Conflict):
        task_rollback_undo(stage.coder.principal, "t1")
    plan(stage, "solo", task="t1")
    task_rollback(stage.coder.principal, "t1")
    assert statuses(stage)["user:42 plan: pro"] == "live"


def test_rollback__others_have_gone_on__their_value_stays(stage: Stage) -> None:
    plan(stage, "pro")
    plan(stage, "team", task="t1")
    plan(stage, "enterprise", task="t2")
    run = task_rollback(stage.coder.principal, "t1")
    assert statuses(stage) == {
        "user:42 plan: pro": "superseded", "user:42 plan: team": "deleted", "user:42 plan: enterprise": "live",
    }  # fmt: skip
    assert len(run.result["left"]) == 1


def test_rollback__contested_by_the_task__peace_again(stage: Stage) -> None:
    fields: dict[str, Any] = {"subject": "service:press", "predicate": "region"}
    chief = WriteRequest(value="north-cove", scope="project:alpha", origin="tool_verified", **fields)
    memory_write(stage.orchestrator.principal, chief)
    assert write(stage, value="south-cove", task="t1", **fields).reason == "contested"
    task_rollback(stage.coder.principal, "t1")
    assert set(statuses(stage).values()) == {"live", "deleted"}
    with stage.context():
        assert Contradiction.objects.get().resolution == "moot"
    task_rollback_undo(stage.coder.principal, "t1")
    assert set(statuses(stage).values()) == {"contested"}
    with stage.context():
        assert Contradiction.objects.get().status == "open"


def test_rollback__racing_writes_of_the_task__all_or_refused(stage: Stage) -> None:
    put(stage, "step_1", "x")

    def call(number: int) -> Callable[[], str]:
        def run() -> str:
            try:
                return write(
                    stage, f"Dye number {number} needs {number + 2} hours to dry.", task="t1"
                ).outcome
            except Conflict:
                return "refused"

        return run

    calls = [call(n) for n in range(12)]
    calls.insert(6, lambda: task_rollback(stage.coder.principal, "t1").status)
    outcomes = at_once(calls)
    assert outcomes[6] == "rolled_back" and set(outcomes) <= {"rolled_back", "stored", "refused"}
    assert set(statuses(stage).values()) <= {"deleted"}
    with stage.context():
        assert WriteDecision.objects.count() == outcomes.count("stored")

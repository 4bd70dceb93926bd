"""The sweep of working memory: abandoned tasks end, values past their time go, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.models import AuditEvent, Memory, WorkingValue, WorkRun
from memory.services.memory_write import memory_write
from memory.services.sweeps import sweep_tasks
from memory.services.task_rollback import task_rollback, task_rollback_undo
from memory.services.working import WorkingWrite, working_put
from memory.services.write_types import WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")

DAY = timedelta(days=1)


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def put(stage: Stage, task: str, *, ttl: object = None) -> None:
    working_put(stage.coder.principal, task, "step_1", WorkingWrite("x", ttl=ttl))


def statuses(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(WorkRun.objects.values_list("name", "status"))


def test_sweep__idle_task__abandoned_with_an_event__and_open_again_at_its_next_write(stage: Stage) -> None:
    now = clock.now()
    with clock.moved_to(now - 2 * DAY):
        put(stage, "idle")
        put(stage, "wrote a memory".replace(" ", "-"))
    fact = WriteRequest(
        content="Mill four delivers paper on Mondays.", task="wrote-a-memory", origin="tool_verified"
    )
    memory_write(stage.coder.principal, fact)
    put(stage, "busy")
    assert sweep_tasks(stage.tenant.id, dry_run=True).changed == 1
    assert set(statuses(stage).values()) == {"open"}
    run = sweep_tasks(stage.tenant.id)
    assert (run.status, run.changed) == ("done", 1)
    assert statuses(stage) == {"idle": "abandoned", "wrote-a-memory": "open", "busy": "open"}
    with stage.context():
        event = AuditEvent.objects.get(action="task.abandoned")
        assert (event.target_id, event.actor_name) == ("task:idle", "sweep.tasks")
        assert Memory.objects.count() == 1
    put(stage, "idle")
    assert statuses(stage)["idle"] == "open"


def test_sweep__values_past_their_time__dropped__removed_ones_kept_for_the_undo(stage: Stage) -> None:
    put(stage, "short", ttl=5)
    put(stage, "long", ttl="60d")
    put(stage, "back", ttl="90d")
    task_rollback(stage.coder.principal, "back")
    with clock.moved_to(clock.now() + DAY):
        sweep_tasks(stage.tenant.id)
        with stage.context():
            assert set(WorkingValue.objects.values_list("task", flat=True)) == {"long", "back"}
        task_rollback_undo(stage.coder.principal, "back")
    task_rollback(stage.coder.principal, "back")
    with clock.moved_to(clock.now() + 31 * DAY):
        sweep_tasks(stage.tenant.id)
    with stage.context():
        assert set(WorkingValue.objects.values_list("task", flat=True)) == {"long"}

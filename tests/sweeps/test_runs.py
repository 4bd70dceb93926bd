"""A stopped run waits for a person, who lets it go ahead; and what a run took comes back as one step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Job, Memory, SweepRun
from memory.services import sweep_runs
from memory.services.audit_verify import audit_verify
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.policies import policy_activate
from memory.services.retention import memory_delete, memory_restore
from memory.services.sweep_runs import sweep_apply, sweep_undo, sweep_undo_run
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_dedup, sweep_expiry
from memory.services.sweeps.due import sweep_is_due
from tests.factories import make_person, make_tenant
from tests.killed import Killed
from tests.search_index import out_of_step
from tests.sweeps.planting import Plot
from tests.sweeps.test_dedup import SAME, slipped_in

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})


def fading(plot: Plot, rows: int = 5, **fields: Any) -> list[Any]:
    return plot.plant(rows, at=clock.now() - 180 * DAY, **fields)


def stopped() -> tuple[Plot, list[Any], SweepRun]:
    """A tenant in which decay would take 5 of 20, and did not."""
    plot = Plot()
    ids = fading(plot)
    plot.plant(15, content="young ", at=clock.now())
    run = sweep_decay(plot.tenant_id)
    assert run.status == "stopped"
    return plot, ids, run


def undone(plot: Plot, run: SweepRun) -> Job:
    job = sweep_undo(plot.stage.reviewer.principal, run.id, "the policy was too strict")
    assert sweep_undo_run(plot.tenant_id, job.id) == "done"
    with plot.stage.context():
        return Job.objects.get(id=job.id)


def test_apply__stopped_run__lets_the_next_take_what_it_had_named() -> None:
    plot, ids, run = stopped()
    sweep_apply(plot.stage.reviewer.principal, run.id, "a season's notes, all of them old")
    assert plot.count("memory_alert", "kind = 'sweep_stopped' AND acknowledged_at IS NULL") == 0
    after = sweep_decay(plot.tenant_id)
    assert (after.status, after.changed) == ("done", 5)
    assert set(plot.statuses(ids)) == {"evicted"}
    with plot.stage.context():
        kept = SweepRun.objects.get(id=run.id).details
    assert kept["applied_by"] == after.id.hex
    assert kept["approved"]["by"] == plot.stage.reviewer.principal.name
    assert after.details["approved_run"] == run.id.hex
    assert plot.count("memory_auditevent", "action = 'sweep.approved' AND reason LIKE 'a season%%'") == 1


def test_apply__more_than_was_shown__is_held_again() -> None:
    plot, ids, run = stopped()
    sweep_apply(plot.stage.reviewer.principal, run.id, "old notes")
    more = fading(plot, 3, content="older ")
    again = sweep_decay(plot.tenant_id)
    assert (again.status, again.changed) == ("stopped", 0)
    assert set(plot.statuses([*ids, *more])) == {"live"}


def test_apply__once__does_not_open_the_door_for_the_next_time() -> None:
    plot, _ids, run = stopped()
    sweep_apply(plot.stage.reviewer.principal, run.id, "old notes")
    sweep_decay(plot.tenant_id)
    fading(plot, 5, content="later ")
    assert sweep_decay(plot.tenant_id).status == "stopped"


def test_apply__run_that_died_on_the_way__is_gone_on_with() -> None:
    plot, _ids, run = stopped()
    sweep_apply(plot.stage.reviewer.principal, run.id, "old notes")
    done = sweep_decay(plot.tenant_id)
    with plot.stage.context():
        SweepRun.objects.filter(id=done.id).update(status="running")
    fading(plot, 5, content="later ")
    assert sweep_decay(plot.tenant_id).changed == 5


@pytest.mark.parametrize("since", ["decided", "new policy", "ran again"])
def test_apply__not_the_present_state_any_more__is_a_conflict(since: str) -> None:
    plot, ids, run = stopped()
    reviewer = plot.stage.reviewer.principal
    if since == "decided":
        sweep_apply(reviewer, run.id, "old notes")
    elif since == "new policy":
        policy_activate(plot.stage.owner.principal, {"decay": {"floor": 0.1}}, "milder")
    else:
        sweep_decay(plot.tenant_id)
    with pytest.raises(Conflict):
        sweep_apply(reviewer, run.id, "old notes")
    assert set(plot.statuses(ids)) == {"live"}


def test_apply__without_a_reason_the_role_or_a_stopped_run__changes_nothing() -> None:
    plot, _ids, run = stopped()
    with pytest.raises(Invalid):
        sweep_apply(plot.stage.reviewer.principal, run.id, " ")
    with pytest.raises(Denied):
        sweep_apply(make_person(plot.stage.tenant, "auditor").principal, run.id, "old notes")
    with pytest.raises(NotFound):
        sweep_apply(make_tenant().reviewer.principal, run.id, "old notes")
    done = sweep_expiry(plot.tenant_id)
    with pytest.raises(Conflict):
        sweep_apply(plot.stage.reviewer.principal, done.id, "old notes")
    assert sweep_decay(plot.tenant_id).status == "stopped"


def test_apply__daily_sweep__is_due_at_once() -> None:
    plot, _rows = slipped_in(*SAME, policy={"retention": {"sweep_guard_min_rows": 2}})
    run = sweep_dedup(plot.tenant_id)
    assert run.status == "stopped" and not sweep_is_due(plot.tenant_id, "dedup")
    sweep_apply(plot.stage.reviewer.principal, run.id, "the same indeed")
    assert sweep_is_due(plot.tenant_id, "dedup")
    assert sweep_dedup(plot.tenant_id).changed == 1
    assert not sweep_is_due(plot.tenant_id, "dedup")


def _decay(plot: Plot) -> SweepRun:
    fading(plot, 3)
    return sweep_decay(plot.tenant_id)


def _expiry(plot: Plot) -> SweepRun:
    plot.plant(3, expires_at=clock.now() - DAY)
    return sweep_expiry(plot.tenant_id)


def _compaction(plot: Plot) -> SweepRun:
    policy = {"retention": {"sweep_guard": 1.0}, "reconciliation": {"cap": 2}}
    policy_activate(plot.stage.owner.principal, policy, "small scopes")
    plot.plant(5, at=clock.now())
    return sweep_compaction(plot.tenant_id)


@pytest.mark.parametrize("sweep", [_decay, _expiry, _compaction])
def test_undo__whole_sweep__comes_back_as_one_step_and_stays(sweep: Callable[[Plot], SweepRun]) -> None:
    plot = Plot(UNGUARDED)
    run = sweep(plot)
    assert run.changed == 3
    with plot.stage.context():
        ids = list(Memory.objects.exclude(status="live").values_list("id", flat=True))
    job = undone(plot, run)
    assert (job.done, job.result["left"]) == (3, 0)
    assert plot.statuses(ids) == ["live"] * 3
    assert out_of_step(plot.stage) == []
    assert plot.count("memory_index") == plot.count("memory_memory")
    assert sweep_expiry(plot.tenant_id).changed == 0
    assert sweep_decay(plot.tenant_id).changed == 0
    assert plot.count("memory_auditevent", "action = 'memory.sweep_undone'") == 3
    assert audit_verify(plot.tenant_id).report.ok
    with pytest.raises(Conflict, match="already"):
        sweep_undo(plot.stage.reviewer.principal, run.id, "again")


def test_undo__merges__give_the_counts_back() -> None:
    plot, rows = slipped_in(*SAME)
    run = sweep_dedup(plot.tenant_id)
    undone(plot, run)
    assert plot.statuses([row.id for row in rows]) == ["live", "live"]
    with plot.stage.context():
        assert set(Memory.objects.values_list("reproductions", "merged_into")) == {(0, None)}


def test_undo__what_changed_since__is_left_and_named() -> None:
    plot = Plot(UNGUARDED)
    reviewer = plot.stage.reviewer.principal
    ids = fading(plot, 3)
    run = sweep_decay(plot.tenant_id)
    memory_restore(reviewer, ids[0], "needed")
    memory_delete(reviewer, ids[1], "not needed")
    job = undone(plot, run)
    assert (job.done, job.result["left"]) == (1, 2)
    assert plot.statuses(ids) == ["live", "deleted", "live"]


def test_undo__nothing_taken_too_late_or_no_role__changes_nothing() -> None:
    plot = Plot(UNGUARDED)
    reviewer = plot.stage.reviewer.principal
    empty = sweep_decay(plot.tenant_id)
    with pytest.raises(Conflict):
        sweep_undo(reviewer, empty.id, "why")
    ids = fading(plot, 2)
    run = sweep_decay(plot.tenant_id)
    dry = sweep_decay(plot.tenant_id, dry_run=True)
    with pytest.raises(Conflict):
        sweep_undo(reviewer, dry.id, "why")
    with pytest.raises(Invalid):
        sweep_undo(reviewer, run.id, "")
    with pytest.raises(Denied):
        sweep_undo(make_person(plot.stage.tenant, "auditor").principal, run.id, "why")
    with clock.moved_to(clock.now() + 31 * DAY), pytest.raises(Conflict, match="30 days"):
        sweep_undo(reviewer, run.id, "why")
    assert set(plot.statuses(ids)) == {"evicted"}


def test_undo__worker_dies_between_batches__the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.services import bulk_work

    plot = Plot(UNGUARDED)
    ids = fading(plot, 25)
    run = sweep_decay(plot.tenant_id)
    monkeypatch.setattr(bulk_work, "BACK_BATCH", 10)
    job = sweep_undo(plot.stage.reviewer.principal, run.id, "too strict")
    real, calls = bulk_work.bulk_steps.bring_back, [0]

    def dying(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise Killed
        return real(*args, **more)

    monkeypatch.setattr(bulk_work.bulk_steps, "bring_back", dying)
    with pytest.raises(Killed):
        sweep_undo_run(plot.tenant_id, job.id)
    monkeypatch.setattr(bulk_work.bulk_steps, "bring_back", real)
    with clock.moved_to(clock.now() + timedelta(seconds=61)):
        assert sweep_runs.sweep_undo_run(plot.tenant_id, job.id) == "done"
    assert set(plot.statuses(ids)) == {"live"}
    assert plot.count("memory_auditevent", "action = 'memory.sweep_undone'") == 25

"""Episodic compression: one episode stands for the notes of a task that ended long ago; they are kept and linked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Memory, WorkRun
from memory.services import retention
from memory.services.audit_verify import audit_verify
from memory.services.memory_write import memory_write
from memory.services.sweeps import episodes, sweep_episodes, sweep_tasks
from memory.services.task_complete import TaskEnd, task_complete
from memory.services.working import WorkingWrite, working_put
from memory.services.write_types import WriteRequest
from tests.killed import Killed
from tests.parallel import at_once
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
STEPS = {
    "one": "The export of the ledger has twelve rows.",
    "two": "The ledger of the harbour is closed on Fridays.",
    "three": "Invoices of the mill are signed by two people.",
}


def plot_with(**policy: Any) -> Plot:
    return Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}, **policy}))


def finished(plot: Plot, task: str = "t1", *, days: float = 15) -> None:
    """A task whose three steps were remembered, completed so many days ago."""
    agent = plot.stage.coder.principal
    with clock.moved_to(clock.now() - days * DAY):
        for key, text in STEPS.items():
            working_put(
                agent, task, key, WorkingWrite({"said": text}, succeeded=True, summary=text, importance=0.8)
            )
        task_complete(agent, task, TaskEnd(summary="Exported the ledger of the harbour."))


def abandoned(plot: Plot, task: str = "t2", *, days: float = 16) -> None:
    """A task that wrote episodic notes and was never completed."""
    agent = plot.stage.coder.principal
    with clock.moved_to(clock.now() - days * DAY):
        for text in STEPS.values():
            request = WriteRequest(content=text, scope="agent:coder", layer="episodic", kind="event", task=task,
                                   origin="tool_verified")  # fmt: skip
            memory_write(agent, request)
    with clock.moved_to(clock.now() - (days - 1.5) * DAY):
        sweep_tasks(plot.tenant_id)


def texts(plot: Plot, status: str) -> set[str]:
    with plot.stage.context():
        return set(Memory.objects.filter(status=status).values_list("content", flat=True))


def test_episodes__completed_long_ago__its_episode_stands_for_its_notes() -> None:
    plot = plot_with()
    finished(plot)
    with plot.stage.context():
        before = Memory.objects.filter(status="live").count()
    run = sweep_episodes(plot.tenant_id)
    assert (run.status, run.scanned, run.changed) == ("done", 3, 3)
    assert texts(plot, "archived") == set(STEPS.values())
    with plot.stage.context():
        (episode,) = Memory.objects.filter(status="live")
        notes = set(Memory.objects.filter(status="archived").values_list("id", flat=True))
        assert before == 4 and notes <= set(episode.derived_from)
        assert WorkRun.objects.get().result["compressed"]["notes"] == 3
    assert plot.count("memory_auditevent", "action = 'memory.archived' AND actor_id = 'sweep.episodes'") == 3
    assert plot.count("memory_auditevent", "action = 'task.compressed'") == 1
    assert audit_verify(plot.tenant_id).report.ok
    assert sweep_episodes(plot.tenant_id).scanned == 0


def test_episodes__younger_than_the_policy_says__stays_as_it_is() -> None:
    plot = plot_with()
    finished(plot, days=13)
    assert sweep_episodes(plot.tenant_id).changed == 0
    older = plot_with(retention={"sweep_guard": 1.0, "episode_days": 10})
    finished(older, days=13)
    assert sweep_episodes(older.tenant_id).changed == 3


def test_episodes__abandoned_without_an_episode__gets_one_through_the_write_path() -> None:
    plot = plot_with()
    abandoned(plot)
    run = sweep_episodes(plot.tenant_id)
    assert (run.status, run.changed) == ("done", 3)
    with plot.stage.context():
        (episode,) = Memory.objects.filter(status="live")
        assert episode.content.startswith("Task t2 was left unfinished")
        assert (episode.layer, episode.scope) == ("episodic", "agent:coder")
        assert {step["line"] for step in episode.metadata["steps"]} == set(STEPS.values())
        assert set(episode.derived_from) == set(
            Memory.objects.filter(status="archived").values_list("id", flat=True)
        )
    assert plot.count("memory_writedecision", "outcome = 'stored'") == 4


def test_episodes__pinned_promoted_or_contested__stay() -> None:
    plot = plot_with()
    finished(plot)
    with plot.stage.context():
        rows = list(Memory.objects.filter(content__in=STEPS.values()).order_by("id"))
        Memory.objects.filter(id=rows[1].id).update(scope="project:alpha")
    retention.memory_pin(plot.stage.reviewer.principal, rows[0].id, "the one that matters")
    run = sweep_episodes(plot.tenant_id)
    assert run.changed == 0, "one note is left, which is no story"
    assert plot.statuses([row.id for row in rows]) == ["live"] * 3


def test_episodes__note_brought_back__stands_again_with_its_id() -> None:
    plot = plot_with()
    finished(plot)
    sweep_episodes(plot.tenant_id)
    with plot.stage.context():
        note = Memory.objects.filter(status="archived").first()
    assert note is not None
    retention.memory_restore(plot.stage.reviewer.principal, note.id, "needed singly")
    sweep_episodes(plot.tenant_id)
    assert plot.statuses([note.id]) == ["live"]


def test_episodes__dry_run_and_guard__change_nothing() -> None:
    plot = plot_with()
    finished(plot)
    assert sweep_episodes(plot.tenant_id, dry_run=True).changed == 3
    assert len(texts(plot, "live")) == 4
    guarded = Plot(Policy.model_validate({"retention": {"sweep_guard_min_rows": 2}}))
    finished(guarded)
    run = sweep_episodes(guarded.tenant_id)
    assert (run.status, run.changed, run.details["held"]["agent:coder"]["removable"]) == ("stopped", 0, 3)
    assert len(texts(guarded, "live")) == 4


def test_episodes__side_by_side_and_twice__one_episode() -> None:
    plot = plot_with()
    abandoned(plot)
    runs = at_once([lambda: sweep_episodes(plot.tenant_id) for _ in range(3)])
    assert sum(run.changed for run in runs) == 3
    assert len(texts(plot, "live")) == 1
    assert plot.count("memory_auditevent", "action = 'memory.archived'") == 3


def test_episodes__killed_after_the_episode_was_written__the_next_run_uses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plot = plot_with()
    abandoned(plot)

    def dying(*_given: Any) -> Any:
        raise Killed

    real = episodes.bulk.lock_free
    monkeypatch.setattr(episodes.bulk, "lock_free", dying)
    with pytest.raises(Killed):
        sweep_episodes(plot.tenant_id)
    assert len(texts(plot, "live")) == 4 and not texts(plot, "archived")
    monkeypatch.setattr(episodes.bulk, "lock_free", real)
    assert sweep_episodes(plot.tenant_id).changed == 3
    assert len(texts(plot, "live")) == 1

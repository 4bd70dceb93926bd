"""Jobs of every kind that kill their workers, or break each time: tried three times, then given up in words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from memgov import clock
from memgov.celery import app
from memory.domain.blast import Seed
from memory.domain.policy import Policy
from memory.models import AuditEvent, Job, SweepRun
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import blast, deletion_steps
from memory.services.audit_verify import audit_verify
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_run, deletion_undo, memories_delete
from memory.services.erasure import ErasureWish, subject_erase
from memory.services.job_queue import TASK_OF_KIND, dispatch
from memory.services.job_takes import GIVEN_UP, MOST_TAKES
from memory.services.policy_drafts import draft_start
from memory.services.preview import preview_start
from memory.services.sweep_runs import sweep_undo, sweep_undo_run
from memory.services.sweeps import sweep_decay
from memory.services.transfer_files import Incoming
from memory.services.transfer_run import transfer_run
from memory.services.transfers import Wish as ImportWish
from memory.services.transfers import export_begin, import_begin, import_look
from memory.services.write_jobs import write_job_start
from memory.services.write_types import WriteRequest
from memory.store import bulk_steps
from tests.killed import Killed
from tests.sweeps.planting import Plot
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")
LONG_AGO = timedelta(days=400)


def wish(**filters: Any) -> Wish:
    return Wish(Chosen(filters=MemoryFilters(**filters)), "a test run")


def every_kind(plot: Plot, monkeypatch: pytest.MonkeyPatch) -> dict[str, Job]:
    """A job of each kind that there is, all of them waiting."""
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 0)
    stage, now = plot.stage, clock.now()
    reviewer, owner = stage.reviewer.principal, stage.owner.principal
    for name in ("delete", "undelete", "hold", "release"):
        plot.plant(2, content=f"{name} ", session=name, at=now)
    plot.plant(2, content="faded ", at=now - LONG_AGO)
    run = sweep_decay(plot.tenant_id)
    assert (run.status, run.changed) == ("done", 2)
    gone = memories_delete(reviewer, wish(session="undelete")).job
    assert deletion_run(plot.tenant_id, gone.id) == "done"
    held = blast.blast_quarantine(reviewer, Seed(session="release"), "poisoned", seen=clock.now())
    assert blast.blast_run(plot.tenant_id, held.id) == "done"
    incoming = Incoming()
    incoming.write(b'[{"memory": "Pumps of the lower basin are serviced each March."}]')
    looked = import_look(owner, incoming, ImportWish("store.json"))
    transfer_run(plot.tenant_id, looked.id)
    begun = import_begin(owner, looked.id)
    draft = draft_start(owner, "sooner")
    asked = [
        WriteRequest(content="The press halls open at seven.", scope="project:alpha", origin="tool_verified")
    ]
    waiting = [
        memories_delete(reviewer, wish(session="delete")).job,
        deletion_undo(reviewer, gone.id),
        blast.blast_quarantine(reviewer, Seed(session="hold"), "poisoned", seen=clock.now()),
        blast.blast_undo(reviewer, held.id),
        sweep_undo(reviewer, run.id, "too strict"),
        preview_start(owner, draft.id, version=1),
        begun,
        export_begin(owner, "jsonl"),
        write_job_start(stage.coder.principal, "batch", asked),
        subject_erase(owner, ErasureWish("user:42", reason="request 17", typed="user:42")),
    ]
    return {job.kind: job for job in waiting}


def eventually(holds: Callable[[], bool], what: str) -> None:
    pause = threading.Event()
    for _ in range(1200):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError(f"it never happened: {what}")


def send(plot: Plot, jobs: Mapping[str, Job]) -> None:
    with plot.stage.context():
        for kind, job in jobs.items():
            dispatch(plot.tenant_id, job.id, kind)


def now_of(plot: Plot, jobs: Mapping[str, Job]) -> dict[str, Job]:
    with plot.stage.context():
        rows = {job.id: job for job in Job.objects.filter(id__in=[job.id for job in jobs.values()])}
    return {kind: rows[job.id] for kind, job in jobs.items()}


def test_worker__really_killed_again_and_again__jobs_of_every_kind_are_given_up(
    superuser_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}}))
    jobs = every_kind(plot, monkeypatch)
    # Of a tenant there is one import and one export at a time; these three are taken up by the task of the other two.
    others = {"export.trial", "import.preview", "import.undo"}
    assert {TASK_OF_KIND[kind] for kind in others} == {TASK_OF_KIND["import.run"]}
    assert set(jobs) == {*TASK_OF_KIND, "batch"} - others
    before = plot.look(
        "SELECT id, status, version FROM memory_memory WHERE tenant_id = %(tenant)s ORDER BY id"
    )
    for number in range(1, MOST_TAKES + 1):
        app.control.purge()
        with psycopg.connect(superuser_url) as holder, worker(len(jobs)) as process:
            holder.execute("LOCK TABLE memory_memory IN ACCESS EXCLUSIVE MODE")
            send(plot, jobs)

            def all_begun(number: int = number) -> bool:
                return all(job.takes == number for job in now_of(plot, jobs).values())

            eventually(all_begun, f"every job is begun the {number}. time")
            process.kill()
        assert {job.status for job in now_of(plot, jobs).values()} == {"running"}
        with psycopg.connect(superuser_url) as later:  # a minute without a sign of life
            later.execute("UPDATE memory_job SET touched_at = touched_at - interval '2 minutes'")
    app.control.purge()
    with worker(2):
        send(plot, jobs)
        eventually(lambda: all(job.finished_at for job in now_of(plot, jobs).values()), "every job has ended")
    ended = now_of(plot, jobs)
    assert {kind: job.status for kind, job in ended.items()} == dict.fromkeys(jobs, "failed")
    assert all("it was begun three times" in job.error and job.request is None for job in ended.values())
    after = plot.look(
        "SELECT id, status, version FROM memory_memory WHERE tenant_id = %(tenant)s ORDER BY id"
    )
    assert after == before, "nothing half done"
    with plot.stage.context():
        told = AuditEvent.objects.filter(action="job.given_up").values_list("after__kind", flat=True)
        assert sorted(told) == sorted(kind for kind in jobs if not kind.startswith(("import.", "export.")))
        failed = AuditEvent.objects.filter(action__endswith=".failed", target_kind="job")
        assert failed.count() == 2
    assert audit_verify(plot.tenant_id).report.ok
    everything_may_be_taken_back(plot, ended)


def everything_may_be_taken_back(plot: Plot, ended: Mapping[str, Job]) -> None:
    """A job that was given up leaves its step open for the next one."""
    reviewer = plot.stage.reviewer.principal
    with plot.stage.context():
        run = SweepRun.objects.get(name="decay")
        steps = {
            job.kind: job
            for job in Job.objects.filter(kind__in=["memories.delete", "blast.quarantine"], done=2)
        }
    again = deletion_undo(reviewer, steps["memories.delete"].id)
    assert deletion_run(plot.tenant_id, again.id) == "done"
    assert (
        blast.blast_run(plot.tenant_id, blast.blast_undo(reviewer, steps["blast.quarantine"].id).id) == "done"
    )
    assert sweep_undo_run(plot.tenant_id, sweep_undo(reviewer, run.id, "too strict").id) == "done"
    assert plot.count("memory_memory", "status NOT IN ('live')") == 0
    assert all(job.takes == MOST_TAKES + 1 for job in ended.values())


def broken_after(batches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each worker live for so many batches of a deletion."""
    real, left = bulk_steps.delete, [batches]

    def dying(*args: Any, **more: Any) -> Any:
        if left[0] == 0:
            left[0] = batches
            raise Killed
        left[0] -= 1
        return real(*args, **more)

    monkeypatch.setattr(bulk_steps, "delete", dying)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 0)
    monkeypatch.setattr(deletion_steps, "_BATCH", 2)


def test_worker__lost_after_each_batch__is_followed_by_the_next_as_often_as_it_takes(
    small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    plot.plant(14, session="s")
    job = memories_delete(plot.stage.reviewer.principal, wish(session="s")).job
    broken_after(1, monkeypatch)
    now, lost = clock.now(), 0
    while True:
        with clock.moved_to(now + lost * timedelta(minutes=2)):
            try:
                assert deletion_run(plot.tenant_id, job.id) == "done"
                break
            except Killed:
                lost += 1
    assert lost == 6 and now_of(plot, {"one": job})["one"].done == 14


def test_worker__lost_at_the_same_batch__leaves_what_was_done__which_can_be_taken_back(
    small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    ids = plot.plant(6, session="s")
    reviewer = plot.stage.reviewer.principal
    job = memories_delete(reviewer, wish(session="s")).job
    broken_after(1, monkeypatch)
    now = clock.now()
    for number in range(MOST_TAKES + 1):
        with clock.moved_to(now + number * timedelta(minutes=2)), pytest.raises(Killed):
            deletion_run(plot.tenant_id, job.id)
        broken_after(0, monkeypatch)
    with clock.moved_to(now + 10 * timedelta(minutes=2)):
        assert deletion_run(plot.tenant_id, job.id) == "failed"
        ended = now_of(plot, {"one": job})["one"]
        assert (ended.done, ended.error, ended.takes) == (2, GIVEN_UP, MOST_TAKES + 1)
        monkeypatch.undo()
        back = deletion_undo(reviewer, job.id)
        assert deletion_run(plot.tenant_id, back.id) == "done"
    assert plot.statuses(ids) == ["live"] * 6

"""A preview in the hands of workers: real ones, ones that die, and many entries."""

from __future__ import annotations

import tracemalloc
from datetime import datetime, timedelta
from time import process_time, sleep
from typing import Any

import pytest

from memgov import clock
from memgov.celery import app
from memgov.ids import new_id
from memory.domain.policy import Policy
from memory.models import AuditEvent, Job
from memory.services.members import member_role_set
from memory.services.policy_drafts import draft_save, draft_start
from memory.services.preview import entries, preview_report, preview_run, preview_start
from memory.services.preview import jobs as preview_jobs
from memory.services.preview.jobs import PREVIEW
from memory.services.sweeps import sweep_tasks
from memory.store import jobs
from tests.factories import make_person, make_tenant
from tests.sweeps.planting import Plot
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")


def begun(plot: Plot) -> Job:
    owner = plot.stage.owner.principal
    draft = draft_start(owner, "sooner")
    draft_save(owner, draft.id, {"decay": {"floor": 0.9}}, version=1)
    return preview_start(owner, draft.id, version=2)


def now_of(plot: Plot, job: Job) -> Job:
    with plot.stage.context():
        found: Job = Job.objects.get(id=job.id)
    return found


def test_worker__the_preview_asked_for__is_done_by_it() -> None:
    plot = Plot()
    plot.plant(3, at=clock.now())
    app.control.purge()
    with worker() as process:
        job = begun(plot)
        process.until(r"memory\.run_preview_job\[.*succeeded")
    done = now_of(plot, job)
    assert done.status == "done" and done.result["looked_at"]["entries"] == 3
    assert done.result["stored"][0]["name"] == "evicted" and done.result["stored"][0]["count"] == 3


def test_worker__died__is_waited_for_and_then_the_next_begins_again() -> None:
    plot = Plot()
    plot.plant(3, at=clock.now())
    job = begun(plot)
    with plot.stage.context():
        assert jobs.take(job.id, clock.now()) is not None, "a worker takes it and is never heard of again"
    assert preview_run(plot.tenant_id, job.id) == "busy"
    with clock.moved_to(clock.now() + timedelta(minutes=6)):
        sweep_tasks(plot.tenant_id)
        assert preview_run(plot.tenant_id, job.id) == "done"
    assert now_of(plot, job).result["looked_at"]["entries"] == 3


def test_worker__in_a_phase_that_takes_long__says_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else another worker would take the job over after its lease, and both would do it."""
    plot = Plot()
    plot.plant(3, at=clock.now())
    job = begun(plot)
    seen: list[datetime] = []

    def long_phase(*_: object) -> None:
        for _number in range(20):
            sleep(0.1)
            seen.append(now_of(plot, job).touched_at)
            if len(set(seen)) > 2:
                return

    monkeypatch.setattr(preview_jobs, "SIGN_SECONDS", 0.2)
    monkeypatch.setattr(entries, "said_alike", long_phase)
    assert preview_run(plot.tenant_id, job.id) == "done"
    assert len(set(seen)) > 2, "the row was touched while the phase went on"
    assert now_of(plot, job).status == "done"


@pytest.mark.parametrize("when", ["waiting", "running"])
def test_asker__no_admin_any_more__the_preview_ends_and_shows_nothing(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    plot.plant(3, at=clock.now())
    admin = make_person(plot.stage.tenant, "admin")
    draft = draft_start(admin.principal, "sooner")
    job = preview_start(admin.principal, draft.id, version=1)
    real = entries.said_alike

    def leave(*given: Any) -> Any:
        member_role_set(plot.stage.owner.principal, admin.membership.id, "auditor")
        sleep(1.1)  # rights are asked for once a second
        return real(*given) if given else None

    if when == "waiting":
        leave()
    else:
        monkeypatch.setattr(entries, "said_alike", leave)
    assert preview_run(plot.tenant_id, job.id) == "failed"
    ended = now_of(plot, job)
    assert "is no owner or admin any more" in ended.error and "stored" not in ended.result
    with plot.stage.context():
        assert AuditEvent.objects.filter(action="access.denied", actor_id=admin.principal.id).count() == 1


def test_job__that_cannot_be_done__ends_and_says_so() -> None:
    stage = make_tenant()
    with stage.context():
        broken = Job(
            id=new_id(), kind=PREVIEW, actor_name="somebody", result={"draft": f"pdr_{new_id().hex}"}
        )
        jobs.insert(broken, {"document": {"decay": {"floor": 9}}, "writes": 1, "reads": 1})
    assert preview_run(stage.tenant.id, broken.id) == "failed"
    with stage.context():
        ended = Job.objects.get(id=broken.id)
    assert (ended.status, ended.request, ended.error) == (
        "failed",
        None,
        "the preview failed; nothing was changed",
    )
    assert preview_run(stage.tenant.id, broken.id) == "gone"


def test_many_entries__cost_time_in_proportion_and_no_memory() -> None:
    plot = Plot()
    plot.plant(12_000, at=clock.now())
    draft = Policy.model_validate(
        {
            "decay": {"floor": 0.9},
            "freshness": {"bands": {"fact": {"fresh_days": 0.001, "aging_days": 0.002}}},
        }
    )
    told: list[tuple[int, int]] = []
    began = process_time()
    report = preview_report(
        plot.tenant_id,
        draft,
        now=clock.now() + timedelta(days=1),
        progress=lambda *so_far: told.append(so_far),
    )
    assert process_time() - began < 7.2, "60 s for 100,000 of them, of the process's own time"
    counts = {part["name"]: part["count"] for part in report.stored}
    assert counts == {"evicted": 12_000, "rebanded": 12_000}
    assert all(len(part["samples"]) == 10 for part in report.stored)
    assert [done for done, _ in told] == sorted(done for done, _ in told) and len(told) > 6
    tracemalloc.start()
    preview_report(plot.tenant_id, draft, now=clock.now() + timedelta(days=1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 1_048_576

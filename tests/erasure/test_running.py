"""An erasure under way: killed, raced by writers and readers, and asked for by somebody who lost the right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connections

from memgov import clock
from memory.models import Job, Memory
from memory.services import erasure_run as running
from memory.services.audit_verify import audit_verify
from memory.services.erasure import subject_erase
from memory.services.erasure_run import erasure_run
from memory.services.errors import ServiceError
from memory.services.members import member_role_set
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete
from memory.store import jobs
from tests.erasure.lived import CANARY, SUBJECT, erased, holding, lived, wish, write, written
from tests.factories import make_person, make_tenant
from tests.killed import Killed
from tests.sweeps.planting import Plot

LAST = UUID("ffffffff-ffff-7fff-bfff-ffffffffffff")
"""The batches go along the ids."""
pytestmark = pytest.mark.usefixtures("database")


def planted(rows: int = 40) -> Plot:
    plot = Plot()
    plot.plant(rows, subject=SUBJECT, predicate="note", content=f"a {CANARY} note of the subject ")
    return plot


def lapse(plot: Plot, job: Job) -> None:
    """The worker has given no sign for longer than its lease."""
    with plot.stage.context():
        Job.objects.filter(id=job.id).update(touched_at=clock.now() - 2 * jobs.LEASE)


def test_worker__killed_between_batches__the_next_one_finishes(monkeypatch: pytest.MonkeyPatch) -> None:
    plot = planted()
    with plot.stage.context():
        first = Memory.objects.filter(subject=SUBJECT).order_by("id").first()
    assert first is not None
    (child,) = plot.plant(content=f"derived {CANARY} ", derived_from=[first.id], id=LAST)
    monkeypatch.setattr(running, "BATCH", 10)
    job = subject_erase(plot.stage.owner.principal, wish())
    batches, real = [], running._batch

    def dying(one: object, ids: list[object]) -> None:
        if len(batches) == 2:
            raise Killed
        batches.append(ids)
        real(one, ids)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "_batch", dying)
    with pytest.raises(Killed):
        erasure_run(plot.tenant_id, job.id)
    with plot.stage.context():
        assert (Job.objects.get(id=job.id).done, Memory.objects.filter(status="erased").count()) == (20, 20)
        assert Memory.objects.filter(id=first.id, status="erased").exists(), (
            "what leads to the child is empty"
        )
        assert Memory.objects.filter(id=child, status="live").exists()
    monkeypatch.setattr(running, "_batch", real)
    assert erasure_run(plot.tenant_id, job.id) == "busy", "its lease has not ended"
    lapse(plot, job)
    assert erasure_run(plot.tenant_id, job.id) == "done"
    assert holding(plot.stage, CANARY) == {}
    with plot.stage.context():
        assert Job.objects.get(id=job.id).done == 41
    assert audit_verify(plot.tenant_id).report.ok


def test_erasure__given_up_half_way__the_next_one_still_finds_what_was_derived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plot = planted(20)
    with plot.stage.context():
        first = Memory.objects.filter(subject=SUBJECT).order_by("id").first()
    assert first is not None
    plot.plant(content=f"derived {CANARY} ", derived_from=[first.id], id=LAST)
    monkeypatch.setattr(running, "BATCH", 10)
    job, real = subject_erase(plot.stage.owner.principal, wish()), running._batch

    def dying(one: object, ids: list[object]) -> None:
        if LAST in ids:
            raise Killed
        real(one, ids)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(running, "_batch", dying)
        with pytest.raises(Killed):
            erasure_run(plot.tenant_id, job.id)
    with plot.stage.context():
        Job.objects.filter(id=job.id).update(status="failed", request=None)
        assert Memory.objects.exclude(status="erased").get().id == LAST
    assert erased(plot.stage).done == 1
    assert holding(plot.stage, CANARY) == {}


KILLED = """
import sys, uuid, django
django.setup()
from memory.services import erasure_run as running
running.BATCH = 5
real = running._batch
def slow(one, ids):
    real(one, ids)
    print("batch", flush=True)
    import time; time.sleep(0.5)
running._batch = slow
running.erasure_run(uuid.UUID(sys.argv[1]), uuid.UUID(sys.argv[2]))
"""


def test_process__killed_with_signal_9__the_next_one_finishes() -> None:
    plot = planted()
    job = subject_erase(plot.stage.owner.principal, wish())
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(plot.tenant_id), str(job.id)], stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2], env={**os.environ, "DJANGO_SETTINGS_MODULE": "memgov.settings"},
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == b"batch\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with plot.stage.context():
        gone = Memory.objects.filter(status="erased").count()
        assert 0 < gone < 40 and Job.objects.get(id=job.id).done == gone
    lapse(plot, job)
    assert erasure_run(plot.tenant_id, job.id) == "done"
    assert holding(plot.stage, CANARY) == {}


def test_writers_and_readers__of_the_same_subject__leave_nothing_and_break_nothing() -> None:
    stage = make_tenant()
    for number in range(20):
        written(stage, subject=SUBJECT, predicate="note", value=f"{CANARY} number {number * 7} of the press")
    job = subject_erase(stage.owner.principal, wish())
    over = clock.now() + timedelta(seconds=60)
    ended: list[str] = []

    def writing(start: int) -> int:
        count = 0
        while not ended and clock.now() < over:
            write(
                stage, subject=SUBJECT, predicate="note", value=f"{CANARY} again {start + count} of the mill"
            )
            count += 1
            if count == 15:
                break
        connections.close_all()
        return count

    def reading() -> int:
        count = 0
        while not ended and clock.now() < over:
            memory_retrieve(stage.coder.principal, RetrieveRequest(query="number of the press"))
            count += 1
        connections.close_all()
        return count

    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(writing, 1000), pool.submit(writing, 2000), pool.submit(reading)]
        time.sleep(0.1)
        assert erasure_run(stage.tenant.id, job.id) == "done"
        ended.append("done")
        assert all(task.result() > 0 for task in tasks)
    left = holding(stage, CANARY)
    with stage.context():  # what was written after the end is no part of it
        later = Memory.objects.exclude(status="erased").count()
    assert bool(left) == bool(later)
    erased(stage)
    assert holding(stage, CANARY) == {} and audit_verify(stage.tenant.id).report.ok


def test_restore__of_what_was_deleted_and_then_erased__brings_nothing_back() -> None:
    stage = make_tenant()
    gone = written(stage, subject=SUBJECT, predicate="plan", value=f"{CANARY} enterprise")
    memory_delete(stage.owner.principal, gone.id, "a test")
    erased(stage)
    with pytest.raises(ServiceError):
        memory_restore(stage.owner.principal, gone.id)
    assert holding(stage, CANARY) == {}


def test_asker__lost_the_role_meanwhile__nothing_more_is_done() -> None:
    stage = make_tenant()
    kept = written(stage, subject=SUBJECT, predicate="plan", value="enterprise")
    admin = make_person(stage.tenant, "admin")
    job = subject_erase(admin.principal, wish())
    member_role_set(stage.owner.principal, admin.membership.id, "reviewer")
    assert erasure_run(stage.tenant.id, job.id) == "failed"
    with stage.context():
        assert Memory.objects.get(id=kept.id).status == "live"
        assert "no owner or admin" in Job.objects.get(id=job.id).error


def test_command__dry_run_then_done__says_what_went(capsys: pytest.CaptureFixture[str]) -> None:
    there = lived()
    slug = there.stage.tenant.slug
    call_command("erase", SUBJECT, tenant=slug, dry_run=True)
    said = capsys.readouterr().out
    assert f"{len(there.theirs)} memories go" in said and "memory_revision" in said
    assert CANARY in str(holding(there.stage, CANARY) and CANARY) and SUBJECT not in said
    call_command("erase", SUBJECT, tenant=slug, reason="request 17", yes=True, mentions=[CANARY])
    said = capsys.readouterr().out
    assert f"{len(there.theirs)} memories of {slug} were erased" in said and "receipt: evt_" in said
    assert set(holding(there.stage, CANARY)) == {"memory_auditevent"}

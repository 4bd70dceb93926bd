"""Imports and exports as jobs: looked at before, followed, stopped, repeated, forgotten after a day."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memgov import clock
from tests.parallel import at_once

if TYPE_CHECKING:
    from memory.models import Job
    from tests.factories import Stage

ROWS = (
    b'[{"memory": "Pumps of the lower basin are serviced each March."},'
    b' {"memory": "ok"}, {"memory": "Valve 9 opens towards the north wall."}, {"memory": ""}]'
)


def look(stage: Stage, content: bytes = ROWS, **wish: str) -> Job:
    from memory.services.transfer_files import Incoming
    from memory.services.transfers import Wish, import_look

    incoming = Incoming()
    incoming.write(content)
    return import_look(stage.owner.principal, incoming, Wish("store.json", **wish))


def run(stage: Stage, job: Job) -> Job:
    from memory.services.transfer_run import transfer_run

    transfer_run(stage.tenant.id, job.id)
    return now_of(stage, job)


def now_of(stage: Stage, job: Job) -> Job:
    from memory.models import Job as Jobs

    with stage.context():
        found: Job = Jobs.objects.get(id=job.id)
    return found


def contents(stage: Stage) -> list[str]:
    from memory.models import Memory

    with stage.context():
        return sorted(Memory.objects.values_list("content", flat=True))


def events(stage: Stage) -> list[str]:
    from memory.models import AuditEvent

    with stage.context():
        found = AuditEvent.objects.filter(target_kind="job").order_by("seq").values_list("action", flat=True)
        return list(found)


def files(stage: Stage) -> list[Path]:
    from memory.services.transfer_files import folder_of

    return sorted(folder_of(stage.tenant.id).iterdir())


def test_look__at_a_file__tells_what_would_become_of_it_and_stores_nothing(stage: Stage) -> None:
    done = run(stage, look(stage))
    assert done.status == "done" and contents(stage) == []
    assert done.result["counts"] == {"held": 2, "rejected": 1, "unreadable": 1} or done.result["added"] == 2
    assert done.result["sources"][0]["title"] == "mem0, list of memories"
    assert done.result["findings"]["too_vague"] == 1
    assert {one["text"] for one in done.result["samples"]} >= {"ok"}
    assert [row for row, _what, _why in done.result["told"]], "the rows that do not come in are named"
    assert events(stage) == ["import_preview.begun", "import_preview.done"]
    assert len(files(stage)) == 1 and files(stage)[0].stat().st_mode & 0o777 == 0o600


def test_import__after_the_look__brings_candidates_in_and_again_adds_nothing(stage: Stage) -> None:
    """Field report 45: the same file again adds 0."""
    from memory.services.errors import Conflict
    from memory.services.transfers import import_begin

    looked = run(stage, look(stage))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    assert done.status == "done" and done.result["added"] == 2 and len(contents(stage)) == 2
    assert files(stage) == [], "what was used is not kept"
    with pytest.raises(Conflict):
        import_begin(stage.owner.principal, looked.id)
    again = run(stage, look(stage))
    assert again.result["added"] == 0 and again.result["counts"]["known"] == 2
    assert events(stage)[:4] == [
        "import_preview.begun",
        "import_preview.done",
        "import_run.begun",
        "import_run.done",
    ]


def test_import__run_twice_by_workers__adds_each_row_once(stage: Stage) -> None:
    from memory.services.transfer_run import transfer_run
    from memory.services.transfers import import_begin
    from memory.store import jobs

    job = import_begin(stage.owner.principal, run(stage, look(stage)).id)
    with stage.context():
        assert jobs.take(job.id, clock.now()) is not None, "a worker takes it and is never heard of again"
    assert transfer_run(stage.tenant.id, job.id) == "busy"
    with clock.moved_to(clock.now() + timedelta(minutes=6)):
        assert transfer_run(stage.tenant.id, job.id) == "done"
    assert transfer_run(stage.tenant.id, job.id) == "gone"
    assert len(contents(stage)) == 2


@pytest.mark.parametrize("killed", [2, 3])
def test_look__whose_worker_is_lost_each_time__fails_after_three(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    from memory.services import transfer_run as worker

    def lost(*_: Any, **__: Any) -> None:
        raise SystemExit

    job, now = look(stage), clock.now()
    for number in range(killed):
        with clock.moved_to(now + timedelta(minutes=2 * number)), monkeypatch.context() as broken:
            broken.setattr(worker, "audit_store", lost)
            with pytest.raises(SystemExit):
                worker.transfer_run(stage.tenant.id, job.id)
        assert now_of(stage, job).status == "running" and len(files(stage)) == 1
    with clock.moved_to(now + timedelta(minutes=2 * killed)):
        done = run(stage, job)
    if killed < 3:
        assert done.status == "done" and done.result["added"] == 2
    else:
        assert done.status == "failed" and "begun three times" in done.error
        assert files(stage) == [] and events(stage)[-1] == "import_preview.failed"


def test_look__into_one_scope__that_is_none__is_refused(stage: Stage) -> None:
    from memory.services.errors import Invalid

    with pytest.raises(Invalid):
        look(stage, scope="nowhere:at all")
    done = run(stage, look(stage, scope="project:alpha"))
    assert done.result["scope"] == "project:alpha"


@pytest.mark.parametrize(
    "content", [b"\x00\x01\x02\xff" * 500, b"[{", b"PK\x03\x04 no zip", b"\x1f\x8b broken"]
)
def test_look__at_a_file_that_is_none__ends_with_a_reason(stage: Stage, content: bytes) -> None:
    done = run(stage, look(stage, content))
    assert done.status in ("done", "failed") and contents(stage) == []
    if done.status == "failed":
        assert done.error and str(files) not in done.error and "/" not in done.error
    else:
        assert done.result["added"] == 0 or done.result["unreadable"] >= 0


def test_look__at_a_small_file_that_unpacks_to_much__ends_with_a_reason(stage: Stage) -> None:
    done = run(stage, look(stage, gzip.compress(b"\n" * 17 * 1024**2)))
    assert done.status == "failed" and "unpacks to more than 16 MiB" in done.error and files(stage) == []
    assert run(stage, look(stage, gzip.compress(ROWS))).result["added"] == 2, "the positive control"


def test_transfer__one_of_a_kind_at_a_time(stage: Stage) -> None:
    from memory.services.errors import Conflict
    from memory.services.transfers import export_begin

    look(stage)
    with pytest.raises(Conflict):
        look(stage)
    export_begin(stage.owner.principal, "csv")
    with pytest.raises(Conflict):
        export_begin(stage.owner.principal, "csv")


def test_transfer__begun_by_several_at_the_same_moment__is_one(stage: Stage) -> None:
    from memory.services.errors import Conflict
    from memory.services.transfers import export_begin

    def refused(begin: Callable[[], Job]) -> Callable[[], bool]:
        def called() -> bool:
            try:
                begin()
            except Conflict:
                return True
            return False

        return called

    for begin in (lambda: look(stage), lambda: export_begin(stage.owner.principal, "csv")):
        assert sorted(at_once([refused(begin)] * 6)) == [False, *[True] * 5]
    assert len(files(stage)) == 1


def test_look__after_one_that_was_not_used__takes_the_file_of_that_one_away(stage: Stage) -> None:
    from memory.services.errors import Conflict, Invalid
    from memory.services.transfers import import_begin

    first = run(stage, look(stage))
    with pytest.raises(Invalid):
        look(stage, scope="nowhere:at all")
    assert [path.name for path in files(stage)] == [first.id.hex], "what is refused takes nothing away"
    second = run(stage, look(stage))
    assert [path.name for path in files(stage)] == [second.id.hex]
    with pytest.raises(Conflict, match="no longer kept"):
        import_begin(stage.owner.principal, first.id)
    assert run(stage, import_begin(stage.owner.principal, second.id)).result["added"] == 2


def test_export__beyond_a_few__takes_the_oldest_file_away(stage: Stage) -> None:
    from memory.services.errors import NotFound
    from memory.services.transfers import export_begin, export_file

    done = [run(stage, export_begin(stage.owner.principal, "csv")) for _ in range(4)]
    run(stage, export_begin(stage.owner.principal, "csv", trial=True))
    assert {path.name for path in files(stage)} == {one.id.hex for one in done[1:]}
    with pytest.raises(NotFound):
        export_file(stage.owner.principal, done[0].id)
    assert export_file(stage.owner.principal, done[1].id)


def test_cancel__before_a_worker_came__ends_it_and_takes_the_file_away(stage: Stage) -> None:
    from memory.services.errors import Conflict
    from memory.services.transfer_run import transfer_run
    from memory.services.transfers import transfer_cancel

    job = look(stage)
    transfer_cancel(stage.owner.principal, job.id)
    assert now_of(stage, job).status == "cancelled" and files(stage) == []
    assert transfer_run(stage.tenant.id, job.id) == "gone"
    with pytest.raises(Conflict):
        transfer_cancel(stage.owner.principal, job.id)
    assert events(stage)[-1] == "import_preview.cancel_asked"


def test_cancel__while_it_runs__stops_it_and_keeps_what_came_in(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.services import transfer_run as worker
    from memory.services.transfers import import_begin, transfer_cancel

    rows = json.dumps([{"memory": f"Shelf {n} of depot {n * 7} holds gaskets."} for n in range(40)]).encode()
    job = import_begin(stage.owner.principal, run(stage, look(stage, rows)).id)
    monkeypatch.setattr(worker, "_EVERY", 0.0)
    tell, told = worker.Follow.tell, []

    def telling(follow: Any, done: int, **more: Any) -> None:
        told.append(done)
        if len(told) == 12:
            transfer_cancel(stage.owner.principal, job.id)
        tell(follow, done, **more)

    monkeypatch.setattr(worker.Follow, "tell", telling)
    done = run(stage, job)
    assert done.status == "cancelled" and 0 < len(contents(stage)) < 40
    assert files(stage) == [] and events(stage)[-1] == "import_run.cancelled"


def test_export__after_a_trial__holds_what_was_counted_without_secrets_and_formulas(stage: Stage) -> None:
    """Field report 44: a secret older than the scanner is blanked out; the trial changes nothing and writes no file."""
    from memory.models import Memory
    from memory.services.transfers import export_begin
    from tests.pages.staging import write

    memory = write(stage.coder, content="The relay mast is painted every fourth spring.")
    key = "AKIA" + "Z7QK2LMN4PRS6TUV"
    with stage.context():
        Memory.objects.filter(id=memory.id).update(content=f"=HYPERLINK(1) with {key}")
    trial = run(stage, export_begin(stage.owner.principal, "csv", trial=True))
    assert (
        trial.result["secrets"] >= 1 and trial.result["counts"] == {"memory_memory": 1} and files(stage) == []
    )
    done = run(stage, export_begin(stage.owner.principal, "csv"))
    text = files(stage)[0].read_bytes().decode()
    cells = list(csv.DictReader(text.splitlines()))
    assert key not in text and cells[0]["content"].startswith("'=HYPERLINK")
    assert done.result["bytes"] == len(text.encode())
    with stage.context():
        assert key in Memory.objects.get(id=memory.id).content, "the row itself is not changed by an export"


def test_export__while_it_runs__tells_how_far_it_is(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though all of it is read in one transaction, whose own changes nobody sees before its end."""
    from memory.models import Job as Jobs
    from memory.services import tenant_export
    from memory.services import transfer_run as worker
    from memory.services.transfers import export_begin

    monkeypatch.setattr(worker, "_EVERY", 0.0)
    monkeypatch.setattr(tenant_export, "_TELL_EVERY", 1)
    job, seen = export_begin(stage.owner.principal, "jsonl"), []
    tell = worker.Follow.tell

    def telling(follow: Any, done: int, **more: Any) -> None:
        tell(follow, done, **more)
        with stage.context():
            seen.append(Jobs.objects.values_list("done", flat=True).get(id=job.id))

    monkeypatch.setattr(worker.Follow, "tell", telling)
    assert run(stage, job).status == "done"
    assert len({*seen}) > 3 and seen == sorted(seen)


def test_export__whose_worker_was_killed__is_written_when_it_is_sent_again(
    stage: Stage, tmp_path: Path
) -> None:
    from memory.services.errors import Invalid
    from memory.services.tenant_export import tenant_export
    from memory.services.transfer_files import path_of
    from memory.services.transfers import export_begin

    job = export_begin(stage.owner.principal, "csv")
    path = path_of(stage.tenant.id, job.id)
    path.with_name(path.name + ".part").write_bytes(b"half a li")
    assert run(stage, job).status == "done"
    assert files(stage) == [path] and b"half a li" not in path.read_bytes()
    (tmp_path / "out.part").write_bytes(b"half a li")
    with pytest.raises(Invalid, match="is there already"):
        tenant_export(stage.owner.principal, stage.tenant, tmp_path / "out", form="csv")


def test_files__older_than_a_day__go(stage: Stage) -> None:
    from memory.services.errors import Conflict
    from memory.services.transfer_files import Incoming, expire
    from memory.services.transfers import import_begin

    looked = run(stage, look(stage))
    left = Incoming()
    left.write(b"never finished")
    left.close()
    expire(clock.now())
    assert len(files(stage)) == 1 and left.path.exists()
    old = (clock.now() - timedelta(hours=25)).timestamp()
    for path in (*files(stage), left.path):
        os.utime(path, (old, old))
    assert expire(clock.now()) >= 2
    assert files(stage) == [] and not left.path.exists()
    with pytest.raises(Conflict):
        import_begin(stage.owner.principal, looked.id)


def test_files__that_cannot_go_or_are_not_ours__stay_and_stop_nothing(stage: Stage) -> None:
    from django.conf import settings

    from memory.services.transfer_files import expire, folder_of, path_of
    from memory.tasks import end_tenants

    own, stuck = path_of(stage.tenant.id, stage.tenant.id), folder_of(stage.tenant.id) / ("a" * 32)
    part = own.with_name(own.name + ".part")
    others = settings.MEMGOV_FILES_DIR / f"notes of {stage.tenant.slug}"
    foreign = [own.with_name("notes.txt"), others / ("b" * 32)]
    stuck.mkdir()
    others.mkdir()
    old = (clock.now() - timedelta(hours=25)).timestamp()
    for path in (own, part, *foreign):
        path.write_bytes(b"x")
    for path in (own, part, *foreign, stuck):
        os.utime(path, (old, old))
    assert expire(clock.now()) >= 2
    assert not own.exists() and not part.exists() and stuck.exists()
    assert all(path.exists() for path in foreign), "the folder has other things in it"
    end_tenants()


def test_tenants__whose_day_has_come__end_whatever_becomes_of_files(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory import tasks
    from tenants.models import Tenant

    def broken(*_: Any) -> int:
        raise OSError("the disk is away")

    monkeypatch.setattr(tasks, "expire", broken)
    with stage.context():
        Tenant.objects.filter(id=stage.tenant.id).update(deletes_at=clock.now() - timedelta(minutes=1))
    with pytest.raises(OSError, match="disk is away"):
        tasks.end_tenants()
    assert not Tenant.objects.filter(id=stage.tenant.id, status=Tenant.Status.ACTIVE).exists()


def test_tenant__purged__leaves_no_file(stage: Stage) -> None:
    from memory.services.transfer_files import folder_of, forget

    look(stage)
    forget(stage.tenant.id)
    assert files(stage) == [] and folder_of(stage.tenant.id).exists()


def test_worker__real__looks_imports_and_exports(stage: Stage) -> None:
    from memgov.celery import app
    from memory.services.transfers import export_begin, import_begin
    from tests.sweeps.processes import worker

    app.control.purge()
    done = r"memory\.run_transfer_job\[.*succeeded.*done"
    with worker() as process:
        looked = look(stage)
        process.until(done)
        job = import_begin(stage.owner.principal, looked.id)
        process.until(done)
        out = export_begin(stage.owner.principal, "jsonl")
        process.until(done)
    assert [now_of(stage, one).status for one in (looked, job, out)] == ["done"] * 3

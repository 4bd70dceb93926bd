"""Imports and exports beside one another: one of a kind, room on the disk, stopped, by a real worker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.parallel import at_once
from tests.transfers.doing import contents, events, files, look, now_of, run

if TYPE_CHECKING:
    from memory.models import Job
    from tests.factories import Stage


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

"""Exports as jobs: counted before, followed, written again after a killed worker."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.transfers.doing import files, run

if TYPE_CHECKING:
    from tests.factories import Stage


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

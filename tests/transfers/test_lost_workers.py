"""Imports whose workers are lost again and again: counted anew whenever rows were stored or went."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memgov import clock
from tests.killed import Killed
from tests.transfers.doing import contents, look, now_of, run

if TYPE_CHECKING:
    from memory.models import Job
    from tests.factories import Stage

LOST: int = 5
"""More often than a job is begun without getting further."""


def begun(stage: Stage, rows: int) -> Job:
    from memory.services.transfers import import_begin

    lines = [f"- Shelf {n} of the archive in hall {n % 7} holds {n * 13} prints" for n in range(rows)]
    return import_begin(stage.owner.principal, run(stage, look(stage, content="\n".join(lines).encode())).id)


def lost_after(batches: int, where: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each worker live for so many batches."""
    real, left = getattr(where, name), [batches]

    def dying(*given: Any, **more: Any) -> Any:
        if left[0] == 0:
            left[0] = batches
            raise Killed
        left[0] -= 1
        return real(*given, **more)

    monkeypatch.setattr(where, name, dying)


def worked_on(stage: Stage, job: Job) -> tuple[Job, int]:
    """The job at its end, and how many workers it took with it."""
    from memory.services.transfer_run import transfer_run

    now = clock.now()
    for number in range(20):
        with clock.moved_to(now + number * timedelta(minutes=2)):
            try:
                transfer_run(stage.tenant.id, job.id)
            except Killed:
                continue
        return now_of(stage, job), number
    raise AssertionError("it never ended")


def test_import__worker_lost_after_each_batch__comes_in_as_a_whole(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.services import foreign_import

    job = begun(stage, 100 * (LOST + 1))
    lost_after(1, foreign_import, "memory_offers", monkeypatch)
    ended, lost = worked_on(stage, job)
    assert (ended.status, ended.error, lost) == ("done", "", LOST)
    assert len(contents(stage)) == 100 * (LOST + 1)


def test_import__worker_lost_at_the_same_batch__is_given_up_after_three(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.services import foreign_import

    job = begun(stage, 120)
    lost_after(0, foreign_import, "memory_offers", monkeypatch)
    ended, lost = worked_on(stage, job)
    assert (ended.status, lost) == ("failed", 3) and "begun three times" in ended.error
    assert contents(stage) == []


def test_undo__worker_lost_after_each_batch__takes_all_of_it_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.models import Memory
    from memory.services import foreign_import_undo
    from memory.services.transfers import import_undo

    job = run(stage, begun(stage, 10 * (LOST + 1)))
    monkeypatch.setattr(foreign_import_undo, "_BATCH", 10)
    lost_after(1, foreign_import_undo, "_remove", monkeypatch)
    ended, lost = worked_on(stage, import_undo(stage.owner.principal, job.id))
    assert (ended.status, lost) == ("done", LOST)
    with stage.context():
        assert set(Memory.objects.values_list("status", flat=True)) == {"deleted"}

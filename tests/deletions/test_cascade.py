"""A cascade over many roots: what it takes, what it leaves, what its seal stands for, and each of them counted once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.models import Job
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import deletion, deletion_steps
from memory.services.audit_verify import audit_verify
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_look, deletion_run, memories_delete
from memory.services.errors import VersionConflict
from memory.store import bulk_steps
from tests.killed import Killed
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
PINNED: dict[str, Any] = {"pinned_at": NOW, "pinned_by": "owner"}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step is a job, two roots at a time, and no number of roots is small."""
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 0)
    monkeypatch.setattr(deletion_steps, "_BATCH", 2)
    monkeypatch.setattr(deletion, "MOST_UNASKED", 1)


def wish(**more: Any) -> Wish:
    return Wish(Chosen(filters=MemoryFilters(session="s")), "a test run", cascade=True, **more)


def result(plot: Plot, job: Job) -> dict[str, Any]:
    with plot.stage.context():
        kept = Job.objects.get(id=job.id)
    assert kept.result is not None and kept.status == "done"
    return {**kept.result, "done": kept.done, "total": kept.total}


def run(plot: Plot) -> dict[str, Any]:
    job = memories_delete(plot.stage.reviewer.principal, wish()).job
    assert deletion_run(plot.tenant_id, job.id) == "done"
    return result(plot, job)


def test_pinned__derived_from_roots_of_several_batches__is_left_once(small_batches: None) -> None:
    plot = Plot()
    roots = plot.plant(7, session="s")
    (pinned,) = plot.plant(content="pinned ", derived_from=roots, **PINNED)
    children = plot.plant(3, content="child ", derived_from=[roots[0], roots[6]])
    (below,) = plot.plant(content="below ", derived_from=[pinned])
    told = run(plot)
    assert plot.statuses([*roots, *children, below]) == ["deleted"] * 11
    assert plot.statuses([pinned]) == ["live"]
    assert (told["done"], told["total"]) == (11, 11)
    assert (told["left"], told["left_reasons"], len(told["left_named"])) == (1, {"pinned": 1}, 1)


def test_named_and_derived_as_well__is_judged_once__as_what_is_named(small_batches: None) -> None:
    plot = Plot()
    (root,) = plot.plant(session="s")
    (pinned,) = plot.plant(content="pinned ", session="s", derived_from=[root], **PINNED)
    (elsewhere,) = plot.plant(content="both ", session="s", derived_from=[root], also_learned_in=["t"])
    seen = deletion_look(plot.stage.reviewer.principal, wish())
    assert (seen.going, seen.derived, seen.left) == (1, 0, {"other_source": 1, "pinned": 1})
    told = run(plot)
    assert plot.statuses([root, pinned, elsewhere]) == ["deleted", "live", "live"]
    assert (told["left"], told["left_reasons"]) == (2, {"other_source": 1, "pinned": 1})


def test_pinned_memories_asked_for__that_were_derived_as_well__are_not_told_as_left(
    small_batches: None,
) -> None:
    plot = Plot()
    roots = plot.plant(3, **PINNED)
    children = plot.plant(2, content="child ", derived_from=roots, **PINNED)
    chosen = Chosen(filters=MemoryFilters(pinned=True))
    job = memories_delete(plot.stage.reviewer.principal, Wish(chosen, "all pinned", cascade=True)).job
    assert deletion_run(plot.tenant_id, job.id) == "done"
    assert plot.statuses([*roots, *children]) == ["deleted"] * 5
    assert result(plot, job)["left_reasons"] == {}


def test_worker__dies_after_a_batch__the_next_still_tells_all_that_is_left(
    small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    roots = plot.plant(6, session="s")
    (pinned,) = plot.plant(content="pinned ", derived_from=[roots[0]], **PINNED)
    (stays,) = plot.plant(content="stays ", session="s", **PINNED)
    job = memories_delete(plot.stage.reviewer.principal, wish()).job
    real, calls = bulk_steps.delete, [0]

    def dying(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise Killed
        return real(*args, **more)

    monkeypatch.setattr(bulk_steps, "delete", dying)
    with pytest.raises(Killed):
        deletion_run(plot.tenant_id, job.id)
    assert plot.statuses(roots).count("deleted") == 2
    monkeypatch.setattr(bulk_steps, "delete", real)
    with clock.moved_to(clock.now() + timedelta(seconds=61)):
        assert deletion_run(plot.tenant_id, job.id) == "done"
    assert plot.statuses([*roots, pinned, stays]) == ["deleted"] * 6 + ["live"] * 2
    told = result(plot, job)
    assert (told["done"], told["left_reasons"]) == (6, {"pinned": 2})


def test_derived__changed_while_the_step_ran__is_left_and_told(
    small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    roots = plot.plant(3, session="s")
    (child,) = plot.plant(content="child ", derived_from=[roots[2]])
    real = bulk_steps.delete

    def late(step: Any, versions: dict[Any, int], reached: Any) -> Any:
        return real(step, {one: version + (one == child) for one, version in versions.items()}, reached)

    monkeypatch.setattr(bulk_steps, "delete", late)
    told = run(plot)
    assert plot.statuses([child]) == ["live"]
    assert (told["done"], told["left_reasons"]) == (3, {"changed": 1})


def test_seal__covers_what_was_derived_from_any_of_a_hundred_thousand_roots() -> None:
    """Beyond that many the seal once said "many", whatever was derived."""
    plot = Plot()
    roots = plot.plant(100_001, session="s")
    (child,) = plot.plant(content="child ", derived_from=[roots[-1]])
    actor = plot.stage.reviewer.principal
    seen = deletion_look(actor, wish())
    assert (seen.going, seen.derived, [row.id for row in seen.derived_sample]) == (100_001, 1, [child])
    plot.look(
        "UPDATE memory_memory SET version = version + 1 WHERE tenant_id = %(tenant)s AND id = %(id)s"
        " RETURNING 1",
        id=child,
    )
    with pytest.raises(VersionConflict):
        memories_delete(actor, wish(seen=seen.seen, seal=seen.sealed(True)))
    assert plot.statuses([roots[0], child]) == ["live", "live"]


def test_chain__of_a_cascade_in_batches__holds(small_batches: None) -> None:
    plot = Plot()
    roots = plot.plant(5, session="s")
    children = plot.plant(4, content="child ", derived_from=roots)
    grandchildren = plot.plant(2, content="grandchild ", derived_from=children)
    told = run(plot)
    assert told["done"] == told["total"] == 11
    assert set(plot.statuses([*roots, *children, *grandchildren])) == {"deleted"}
    assert audit_verify(plot.tenant_id).report.ok

"""What a deletion was decided on: the seal, with what a cascade takes along."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import deletion
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_look, memories_delete
from memory.services.errors import VersionConflict
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


def wish(**more: Any) -> Wish:
    return Wish(Chosen(filters=MemoryFilters(session="s")), "a test run", **more)


def bound(plot: Plot, *, cascade: bool = True) -> Wish:
    """The wish, bound to a look of this moment."""
    seen = deletion_look(plot.stage.reviewer.principal, wish(cascade=cascade))
    return wish(cascade=cascade, seen=seen.seen, seal=seen.sealed(cascade))


def test_cascade__another_version_of_what_was_derived__is_refused() -> None:
    plot = Plot()
    (root,) = plot.plant(session="s")
    (child,) = plot.plant(content="child ", derived_from=[root])
    decided, without = bound(plot), bound(plot, cascade=False)
    plot.look(
        "UPDATE memory_memory SET version = version + 1 WHERE tenant_id = %(tenant)s AND id = %(id)s"
        " RETURNING 1",
        id=child,
    )
    with pytest.raises(VersionConflict):
        memories_delete(plot.stage.reviewer.principal, decided)
    assert plot.statuses([root, child]) == ["live", "live"]
    memories_delete(plot.stage.reviewer.principal, without)
    assert plot.statuses([root, child]) == ["deleted", "live"]


def test_cascade__derived_since_the_look__stays() -> None:
    plot = Plot()
    (root,) = plot.plant(session="s")
    (child,) = plot.plant(content="child ", derived_from=[root])
    decided = bound(plot)
    (late,) = plot.plant(content="late ", derived_from=[root], at=clock.now() + timedelta(milliseconds=1))
    memories_delete(plot.stage.reviewer.principal, decided)
    assert plot.statuses([root, child, late]) == ["deleted", "deleted", "live"]


def test_cascade__decided_on_a_look_without_it__is_refused() -> None:
    plot = Plot()
    (root,) = plot.plant(session="s")
    (child,) = plot.plant(content="child ", derived_from=[root])
    seen = deletion_look(plot.stage.reviewer.principal, wish())
    with pytest.raises(VersionConflict):
        memories_delete(
            plot.stage.reviewer.principal, wish(cascade=True, seen=seen.seen, seal=seen.sealed(False))
        )
    assert plot.statuses([root, child]) == ["live", "live"]


def test_look__without_cascade__does_not_walk_what_was_derived_from_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plot = Plot()
    (root, *_others) = plot.plant(5, session="s")
    plot.plant(content="child ", derived_from=[root])
    monkeypatch.setattr(deletion, "MOST_UNASKED", 4)
    actor = plot.stage.reviewer.principal
    assert deletion_look(actor, wish()).derived is None
    assert deletion_look(actor, wish(cascade=True)).derived == 1
    monkeypatch.setattr(deletion, "MOST_UNASKED", 5)
    assert deletion_look(actor, wish()).derived == 1

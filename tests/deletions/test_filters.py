"""Filters that cannot be read delete nothing."""

from __future__ import annotations

import pytest

from memory.selectors.deletions import Chosen
from memory.selectors.pages_memories import Wanted
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_look, memories_delete
from memory.services.errors import Conflict
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize(
    "odd", [Wanted(band="agin"), Wanted(agent="coder"), Wanted(agent="agt_1", kind="fact")]
)
def test_explorer_filter__that_cannot_be_read__matches_nothing(odd: Wanted) -> None:
    plot = Plot()
    ids = plot.plant(2)
    actor = plot.stage.reviewer.principal
    assert deletion_look(actor, Wish(Chosen(wanted=odd), "r")).going == 0
    with pytest.raises(Conflict) as refused:
        memories_delete(actor, Wish(Chosen(wanted=odd), "r"))
    assert refused.value.code == "nothing_to_do" and plot.statuses(ids) == ["live"] * 2

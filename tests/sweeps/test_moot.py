"""Contradictions of which one side has ended by itself while they waited for a person."""

from __future__ import annotations

import pytest

from memory.models import AuditEvent, Contradiction, Memory
from memory.services.errors import Conflict
from memory.services.memory_write import memory_write
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete
from memory.services.sweeps import sweep_dedup
from memory.services.write_types import WriteRequest
from tests.search_index import out_of_step
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


def clash(plot: Plot, *, second: str) -> tuple[Memory, Memory]:
    """Two values of one key before a person: as strong as each other, or the second weaker and held."""
    key = {"subject": "user:42", "predicate": "plan", "scope": "project:alpha"}
    sources = ((plot.stage.coder, "team", "tool_verified"), (plot.stage.orchestrator, "enterprise", second))
    rows = [
        memory_write(machine.principal, WriteRequest(**key, value=value, origin=origin)).memory
        for machine, value, origin in sources
    ]
    assert rows[0] is not None and rows[1] is not None
    return rows[0], rows[1]


def opened(plot: Plot) -> Contradiction:
    with plot.stage.context():
        found: Contradiction = Contradiction.objects.get()
    return found


def test_contested__one_is_deleted__the_other_is_live_again_and_nobody_is_asked() -> None:
    plot = Plot()
    first, second = clash(plot, second="tool_verified")
    assert plot.statuses([first.id, second.id]) == ["contested", "contested"]
    sweep_dedup(plot.tenant_id)
    assert opened(plot).status == "open", "both stand: a person decides"
    memory_delete(plot.stage.reviewer.principal, second.id, "never said")
    run = sweep_dedup(plot.tenant_id)
    assert run.details["moot"] == 1 and "moot" not in sweep_dedup(plot.tenant_id).details
    assert plot.statuses([first.id, second.id]) == ["live", "deleted"]
    settled = opened(plot)
    assert (settled.status, settled.resolution, settled.resolved_by) == ("settled", "moot", "sweep.dedup")
    assert out_of_step(plot.stage) == []
    with plot.stage.context():
        told = AuditEvent.objects.get(action="contradiction.settled")
    assert told.reason == "one of the two has ended" and told.actor_kind == "system"
    with pytest.raises(Conflict) as taken:
        memory_restore(plot.stage.reviewer.principal, second.id, "it was said after all")
    assert taken.value.code == "place_taken", "what comes back meets the value that won"


def test_held_candidate__its_rival_is_deleted__still_waits_for_a_person() -> None:
    plot = Plot()
    first, second = clash(plot, second="tool_output")
    assert plot.statuses([first.id, second.id]) == ["live", "candidate"]
    memory_delete(plot.stage.reviewer.principal, first.id, "never said")
    sweep_dedup(plot.tenant_id)
    assert opened(plot).status == "open" and plot.statuses([second.id]) == ["candidate"]


def test_both_gone__the_pair_is_settled() -> None:
    plot = Plot()
    for row in clash(plot, second="tool_verified"):
        memory_delete(plot.stage.reviewer.principal, row.id, "never said")
    assert sweep_dedup(plot.tenant_id, dry_run=True).details.get("moot") is None
    assert opened(plot).status == "open"
    sweep_dedup(plot.tenant_id)
    assert opened(plot).status == "settled"

"""What a deletion walks and keeps: no more than it was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Job
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.selectors.pages_memories import Wanted
from memory.services import deletion_steps
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_run, memories_delete
from tests.statements import statements
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


def wish(**filters: Any) -> Wish:
    return Wish(Chosen(filters=MemoryFilters(**filters)), "a test run")


def test_step_at_once__does_not_walk_what_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_steps, "_BATCH", 10)
    asked: list[int] = []
    for foreign in (5, 45):
        plot = Plot()
        coder = plot.stage.coder
        plot.plant(foreign, content="foreign ")
        (own,) = plot.plant(content="own ", agent_id=coder.agent.id)
        with CaptureQueriesContext(connection) as captured:
            done = memories_delete(coder.principal, wish(kinds=["fact"]))
        asked.append(len(statements(captured)))
        assert (done.job.status, done.job.done) == ("done", 1) and plot.statuses([own]) == ["deleted"]
        kept = done.job.result
        assert kept is not None
        assert (kept["left"], kept["left_reasons"]) == (foreign, {"not_own": foreign})
        assert len(kept["left_named"]) == foreign
    assert asked[0] == asked[1]


def test_job__counts_what_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_steps, "_BATCH", 2)
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    plot = Plot()
    coder = plot.stage.coder
    plot.plant(5, content="foreign ")
    own = plot.plant(3, content="own ", agent_id=coder.agent.id)
    job = memories_delete(coder.principal, wish(kinds=["fact"])).job
    assert deletion_run(plot.tenant_id, job.id) == "done"
    assert plot.statuses(own) == ["deleted"] * 3
    with plot.stage.context():
        kept = Job.objects.get(id=job.id).result
    assert kept is not None and kept["left_reasons"] == {"not_own": 5}


@pytest.mark.parametrize("large", [False, True])
def test_job__keeps_the_names_of_its_conditions__and_not_what_they_say(
    large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    plot.plant(2, subject="user:77", predicate="note", content="gout ")
    if large:
        monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    by_page = Wish(Chosen(wanted=Wanted(q="gout", scope="project:alpha")), "they left")
    for asked, names in ((wish(subject="user:77"), ["subject"]), (by_page, ["q", "scope"])):
        job = memories_delete(plot.stage.reviewer.principal, asked).job
        if large:
            assert deletion_run(plot.tenant_id, job.id) == "done"
        with plot.stage.context():
            kept = Job.objects.get(id=job.id)
        assert kept.result is not None and kept.result["filter"] == names
        assert "gout" not in str(kept.result) and "user:77" not in str(kept.result)
        assert kept.done == 2 and kept.request is None
        plot.plant(2, subject="user:77", predicate="note", content="gout ")

"""Who may take a deletion back: whoever may write there at the moment when it comes back."""

from __future__ import annotations

import pytest

from memory.domain.scopes import GrantRule, Verb
from memory.models import Job, Mount, MountEntry
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import tenancy
from memory.services.deletion import Wish
from memory.services.deletion_steps import deletion_run, deletion_undo, memories_delete
from tests.factories import Machine, make_agent
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


def deleted_by(machine: Machine) -> Job:
    chosen = Chosen(filters=MemoryFilters(session="s"))
    return memories_delete(machine.principal, Wish(chosen, "a test run")).job


def reread(plot: Plot, job: Job) -> Job:
    with plot.stage.context():
        return Job.objects.get(id=job.id)


def undone_by_a_person(plot: Plot, job: Job) -> Job:
    back = deletion_undo(plot.stage.reviewer.principal, job.id)
    assert deletion_run(plot.tenant_id, back.id) == "done"
    return reread(plot, back)


def test_undo__by_an_agent_that_lost_the_right__is_left_and_a_person_can_still_take_it_back() -> None:
    plot = Plot()
    machine = make_agent(plot.stage.tenant, "coder", ["project:alpha=rw", "project:beta=rw"])
    (kept,) = plot.plant(agent_id=machine.agent.id, session="s")
    (lost,) = plot.plant(content="lost ", agent_id=machine.agent.id, session="s", scope="project:beta")
    (mounted,) = plot.plant(content="file ", agent_id=machine.agent.id, session="s")
    job = deleted_by(machine)
    back = deletion_undo(machine.principal, job.id)
    with plot.stage.context():
        rule = GrantRule("project:beta", frozenset({Verb.READ}))
        tenancy.grant_set(plot.stage.owner.principal, rule, agent=machine.agent)
        mount = Mount(tenant_id=plot.tenant_id, name="file", sha256="0" * 64, applied_by="owner")
        entry = MountEntry(tenant_id=plot.tenant_id, mount_id=mount.id, memory_id=mounted, place=0, line=1)
        Mount.objects.bulk_create([mount])
        MountEntry.objects.bulk_create([entry])
    assert deletion_run(plot.tenant_id, back.id) == "done"
    assert plot.statuses([kept, lost, mounted]) == ["live", "deleted", "deleted"]
    told = reread(plot, back)
    assert (told.done, told.result["left"]) == (1, 2)
    assert told.result["left_reasons"] == {"scope_denied": 1, "mounted": 1}
    again = undone_by_a_person(plot, job)
    assert plot.statuses([kept, lost, mounted]) == ["live"] * 3
    told = again.result or {}
    assert (again.done, told["left"], told["left_named"]) == (2, 0, []), "what is back already is not left"


def test_undo__with_a_key_that_was_revoked_since__brings_nothing_back() -> None:
    plot = Plot()
    coder = plot.stage.coder
    ids = plot.plant(3, agent_id=coder.agent.id, session="s")
    job = deleted_by(coder)
    back = deletion_undo(coder.principal, job.id)
    tenancy.key_revoke(plot.stage.owner.principal, coder.key, "lost")
    assert deletion_run(plot.tenant_id, back.id) == "failed"
    assert reread(plot, back).error and plot.statuses(ids) == ["deleted"] * 3
    undone_by_a_person(plot, job)
    assert plot.statuses(ids) == ["live"] * 3

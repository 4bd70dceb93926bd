"""A job of many batches stops between two of them when whoever asked for it loses the right; what is done stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memgov import clock
from memory.domain.blast import Seed
from memory.domain.policy import Policy
from memory.models import AuditEvent, Job, Memory
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import blast, bulk_work, deletion_steps, sweep_runs, tenancy, write_jobs
from memory.services.audit_verify import audit_verify
from memory.services.deletion import Wish
from memory.services.members import member_remove, member_role_set
from memory.services.sweeps import sweep_decay
from memory.services.write_jobs import write_job_run, write_job_start
from memory.services.write_types import WriteRequest
from tests.factories import Person, make_agent, make_person
from tests.search_index import out_of_step
from tests.services.test_job_takes import LONG_AGO
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")
ROWS, BATCH = 30, 10
SEED = Seed(session="s")
Change = Callable[[Plot, Person], object]


def lesser(plot: Plot, person: Person) -> None:
    member_role_set(plot.stage.owner.principal, person.membership.id, "auditor")


def removed(plot: Plot, person: Person) -> None:
    member_remove(plot.stage.owner.principal, person.membership.id)


@pytest.fixture
def plot(monkeypatch: pytest.MonkeyPatch) -> Plot:
    """A tenant with rows of one session, and steps of several batches."""
    for module, name in ((blast, "_BATCH"), (deletion_steps, "_BATCH"), (bulk_work, "BACK_BATCH")):
        monkeypatch.setattr(module, name, BATCH)
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 0)
    made = Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}}))
    made.plant(ROWS, session="s")
    return made


def between(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]) -> None:
    """Do something after the first batch, before the rights are asked for the second."""
    real, calls = getattr(module, name), [0]

    def asked(*given: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            act()
        return real(*given)

    monkeypatch.setattr(module, name, asked)


def counted(plot: Plot, status: str) -> int:
    with plot.stage.context():
        return Memory.objects.filter(session="s", status=status).count()


def wish() -> Wish:
    return Wish(Chosen(filters=MemoryFilters(session="s")), "a test run")


def delete(plot: Plot, person: Person) -> Job:
    return deletion_steps.memories_delete(person.principal, wish()).job


def undelete(plot: Plot, person: Person) -> Job:
    gone = delete(plot, plot.stage.owner)
    assert deletion_steps.deletion_run(plot.tenant_id, gone.id) == "done"
    return deletion_steps.deletion_undo(person.principal, gone.id)


def hold(plot: Plot, person: Person) -> Job:
    return blast.blast_quarantine(person.principal, SEED, "poisoned", seen=clock.now())


def release(plot: Plot, person: Person) -> Job:
    held = hold(plot, plot.stage.owner)
    assert blast.blast_run(plot.tenant_id, held.id) == "done"
    return blast.blast_undo(person.principal, held.id)


def unsweep(plot: Plot, person: Person) -> Job:
    with plot.stage.context():
        Memory.objects.filter(session="s").update(
            recorded_at=clock.now() - LONG_AGO, learned_at=clock.now() - LONG_AGO
        )
    run = sweep_decay(plot.tenant_id)
    assert run.changed == ROWS
    return sweep_runs.sweep_undo(person.principal, run.id, "too strict")


STEPS: dict[str, tuple[Any, ...]] = {
    # what asks, what runs, what asks for the rights of now, the status before and after
    "delete": (delete, deletion_steps.deletion_run, (deletion_steps, "asker"), "live", "deleted"),
    "undelete": (undelete, deletion_steps.deletion_run, (deletion_steps, "asker"), "deleted", "live"),
    "hold": (hold, blast.blast_run, (blast, "_asker"), "live", "quarantined"),
    "release": (release, blast.blast_run, (blast, "_asker"), "quarantined", "live"),
    "sweep undo": (unsweep, sweep_runs.sweep_undo_run, (sweep_runs, "asker"), "evicted", "live"),
}


@pytest.mark.parametrize("change", [lesser, removed])
@pytest.mark.parametrize("kind", STEPS)
def test_step__of_a_member_who_loses_the_role_between_two_batches__stops_there(
    plot: Plot, monkeypatch: pytest.MonkeyPatch, kind: str, change: Change
) -> None:
    ask, run, rights, before, after = STEPS[kind]
    person = make_person(plot.stage.tenant, "reviewer")
    job = ask(plot, person)
    between(monkeypatch, *rights, lambda: change(plot, person))
    assert run(plot.tenant_id, job.id) == "failed"
    assert (counted(plot, before), counted(plot, after)) == (ROWS - BATCH, BATCH)
    with plot.stage.context():
        ended = Job.objects.get(id=job.id)
        assert (ended.status, ended.done) == ("failed", BATCH)
        assert "is no reviewer any more; what was done until then stays" in ended.error
        denied = AuditEvent.objects.get(action="access.denied", target_id=person.principal.id)
        assert denied.actor_id == person.principal.id
        assert AuditEvent.objects.get(action="job.given_up").after["entries"] == BATCH
    assert audit_verify(plot.tenant_id).report.ok and out_of_step(plot.stage) == []
    assert run(plot.tenant_id, job.id) == "gone", "nobody goes on with it"


@pytest.mark.parametrize("kind", STEPS)
def test_step__of_a_member_who_keeps_the_right__is_done(
    plot: Plot, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The control: another role that may, given between two batches, stops nothing."""
    ask, run, rights, before, after = STEPS[kind]
    person = make_person(plot.stage.tenant, "reviewer")
    job = ask(plot, person)
    raised = member_role_set
    between(monkeypatch, *rights, lambda: raised(plot.stage.owner.principal, person.membership.id, "admin"))
    assert run(plot.tenant_id, job.id) == "done"
    assert (counted(plot, before), counted(plot, after)) == (0, ROWS)


@pytest.mark.parametrize("kind", ["undelete", "release"])
def test_undo__that_stopped_half_way__is_finished_by_somebody_else(
    plot: Plot, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    ask, run, rights, _before, after = STEPS[kind]
    person = make_person(plot.stage.tenant, "reviewer")
    job = ask(plot, person)
    with plot.stage.context():
        step = Job.objects.get(id=job.id).result["step"]
    with monkeypatch.context() as patch:
        between(patch, *rights, lambda: lesser(plot, person))
        assert run(plot.tenant_id, job.id) == "failed"
    undo = deletion_steps.deletion_undo if kind == "undelete" else blast.blast_undo
    with plot.stage.context():
        done = next(one for one in Job.objects.all() if one.id.hex == step.removeprefix("job_"))
    again = undo(plot.stage.reviewer.principal, done.id)
    assert run(plot.tenant_id, again.id) == "done"
    assert counted(plot, after) == ROWS
    with plot.stage.context():
        assert Job.objects.get(id=again.id).result["left"] == 0


def test_deletion__by_an_agent_whose_key_is_revoked_between_two_batches__stops_there(
    plot: Plot, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_agent(plot.stage.tenant, "coder", ["project:alpha=rw"])
    with plot.stage.context():
        Memory.objects.filter(session="s").update(agent_id=machine.agent.id)
    job = deletion_steps.memories_delete(machine.principal, wish()).job
    owner = plot.stage.owner.principal
    between(monkeypatch, deletion_steps, "asker", lambda: tenancy.key_revoke(owner, machine.key, "lost"))
    assert deletion_steps.deletion_run(plot.tenant_id, job.id) == "failed"
    assert counted(plot, "deleted") == BATCH


def test_writes__with_a_key_that_is_revoked_half_way__end_there(
    plot: Plot, monkeypatch: pytest.MonkeyPatch
) -> None:
    coder = plot.stage.coder
    texts = [f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}." for at in range(60)]
    items = [WriteRequest(content=text, scope="project:alpha", origin="tool_verified") for text in texts]
    job = write_job_start(coder.principal, "batch", items)
    owner = plot.stage.owner.principal
    between(monkeypatch, write_jobs, "principal_of_key", lambda: tenancy.key_revoke(owner, coder.key, "lost"))
    assert write_job_run(plot.tenant_id, job.id) == "failed"
    with plot.stage.context():
        ended = Job.objects.get(id=job.id)
        assert len(ended.result["results"]) == 25 and ended.error
        assert Memory.objects.filter(content__startswith="Rack ").count() == 25

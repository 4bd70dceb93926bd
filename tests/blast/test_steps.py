"""Holding a whole blast radius in one step, and taking that step back."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from memgov import clock
from memgov.celery import app
from memory.domain.blast import Seed
from memory.domain.ids import show_id
from memory.models import AuditEvent, Job, Memory
from memory.services import blast, bulk_work
from memory.services.audit_verify import audit_verify
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.memory_write import memory_write
from memory.services.quarantine import quarantine_release
from memory.services.sweeps import sweep_tasks
from memory.services.write_types import WriteRequest
from memory.store import bulk_steps
from tests.factories import make_agent, make_person, make_tenant
from tests.killed import Killed
from tests.parallel import at_once
from tests.search_index import out_of_step
from tests.sweeps.planting import NOW, Plot
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)


def hold(plot: Plot, seed: Seed, **more: Any) -> Job:
    """Ask for the step and do it."""
    job = asked(plot, seed, **more)
    assert blast.blast_run(plot.tenant_id, job.id) == "done"
    return reread(plot, job)


def asked(plot: Plot, seed: Seed, **more: Any) -> Job:
    seen = more.pop("seen", clock.now())
    return blast.blast_quarantine(plot.stage.reviewer.principal, seed, "a poisoned tool", seen=seen, **more)


def undo(plot: Plot, job: Job) -> Job:
    back = blast.blast_undo(plot.stage.reviewer.principal, job.id)
    assert blast.blast_run(plot.tenant_id, back.id) == "done"
    return reread(plot, back)


def reread(plot: Plot, job: Job) -> Job:
    with plot.stage.context():
        return Job.objects.get(id=job.id)


def test_step__everything_reached__is_held_and_comes_back_as_it_was() -> None:
    plot = Plot()
    (root,) = plot.plant(tool="cam", content="root ")
    derived = plot.plant(2, content="derived ", derived_from=[root])
    further = plot.plant(content="further ", derived_from=[derived[0]], status="contested")
    archived = plot.plant(content="old ", tool="cam", status="archived")
    other = plot.plant(content="other ")
    everything = [root, *derived, *further, *archived]
    job = hold(plot, Seed(tool="cam"))
    assert plot.statuses([*everything, *other]) == ["quarantined"] * 5 + ["live"]
    assert (job.done, job.total, job.status, job.request) == (5, 5, "done", None)
    assert out_of_step(plot.stage) == []
    back = undo(plot, job)
    assert plot.statuses(everything) == ["live", "live", "live", "contested", "archived"]
    assert (back.done, back.result["left"]) == (5, 0)
    assert out_of_step(plot.stage) == []
    assert plot.count("memory_index") == 5
    assert audit_verify(plot.tenant_id).report.ok


def test_step__audit_and_revisions__name_each_memory_the_job_and_the_person() -> None:
    plot = Plot()
    ids = plot.plant(3, tool="cam")
    job = hold(plot, Seed(tool="cam"))
    shown = show_id("job", job.id)
    with plot.stage.context():
        events = AuditEvent.objects.filter(request_id=shown, action="memory.quarantined")
        assert {event.target_id for event in events} == {show_id("mem", one) for one in ids}
        assert {event.actor_id for event in events} == {plot.stage.reviewer.principal.id}
        assert {event.before["status"] for event in events} == {"live"}
        told = AuditEvent.objects.filter(target_id=shown).order_by("seq")
        assert [event.action for event in told] == ["blast.quarantine_started", "blast.quarantined"]
        assert told[1].after == {"entries": 3, "left": 0}
    assert plot.count("memory_revision", "event = 'memory.quarantined' AND version = 2") == 3


def test_undo__what_changed_since_or_lost_its_place__is_left_and_named() -> None:
    plot = Plot()
    stage = plot.stage
    released, taken, plain = (
        plot.plant(content=f"{name} ", tool="cam")[0] for name in ("one", "two", "three")
    )
    (single,) = plot.plant(
        content="four ", tool="cam", subject="user:1", predicate="plan", single_valued=True
    )
    job = hold(plot, Seed(tool="cam"))
    quarantine_release(stage.reviewer.principal, released, "harmless", version=2)
    plot.plant(content="two ")
    plot.plant(content="five ", subject="user:1", predicate="plan", single_valued=True)
    back = undo(plot, job)
    assert plot.statuses([released, taken, single, plain]) == ["live", "quarantined", "quarantined", "live"]
    assert back.done == 1
    assert back.result["left"] == 3
    assert set(back.result["left_named"]) == {show_id("mem", one) for one in (released, taken, single)}


def test_step__what_was_written_after_the_look__is_not_touched() -> None:
    plot = Plot()
    before = plot.plant(tool="cam", content="a ")
    seen = clock.now()
    after = plot.plant(tool="cam", content="b ", at=clock.now())
    hold(plot, Seed(tool="cam"), seen=seen)
    assert plot.statuses([*before, *after]) == ["quarantined", "live"]


def test_step__asked_for_wrongly__changes_nothing() -> None:
    plot = Plot()
    ids = plot.plant(2, tool="cam")
    reviewer = plot.stage.reviewer.principal
    now = clock.now()
    with pytest.raises(Invalid):
        blast.blast_quarantine(reviewer, Seed(), "why", seen=now)
    with pytest.raises(Invalid):
        blast.blast_quarantine(reviewer, Seed(tool="cam"), " ", seen=now)
    with pytest.raises(Invalid):
        blast.blast_quarantine(reviewer, Seed(tool="cam"), "why", seen=now + DAY)
    with pytest.raises(Conflict):
        blast.blast_quarantine(reviewer, Seed(tool="none"), "why", seen=now)
    with pytest.raises(Denied):
        auditor = make_person(plot.stage.tenant, "auditor")
        blast.blast_quarantine(auditor.principal, Seed(tool="cam"), "why", seen=now)
    with pytest.raises(Denied):
        blast.blast_quarantine(plot.stage.coder.principal, Seed(tool="cam"), "why", seen=now)
    assert plot.statuses(ids) == ["live", "live"]
    assert plot.count("memory_job") == 0
    assert plot.count("memory_auditevent", "action = 'access.denied'") == 2


def test_step__asked_for_twice__is_one() -> None:
    plot = Plot()
    plot.plant(2, tool="cam")
    asked(plot, Seed(tool="cam"))
    with pytest.raises(Conflict, match="under way"):
        asked(plot, Seed(tool="cam"))


def test_undo__twice_early_or_late__is_refused() -> None:
    plot = Plot()
    plot.plant(2, tool="cam")
    reviewer = plot.stage.reviewer.principal
    waiting = asked(plot, Seed(tool="cam"))
    with pytest.raises(Conflict, match="under way"):
        blast.blast_undo(reviewer, waiting.id)
    blast.blast_run(plot.tenant_id, waiting.id)
    with clock.moved_to(clock.now() + 31 * DAY), pytest.raises(Conflict, match="30 days"):
        blast.blast_undo(reviewer, waiting.id)
    blast.blast_undo(reviewer, waiting.id)
    with pytest.raises(Conflict, match="already"):
        blast.blast_undo(reviewer, waiting.id)
    with pytest.raises(NotFound):
        blast.blast_undo(make_tenant().reviewer.principal, waiting.id)


def test_step__by_an_agent_with_every_right__is_its_own() -> None:
    plot = Plot()
    ids = plot.plant(2, tool="cam")
    chief = plot.stage.orchestrator.principal
    job = blast.blast_quarantine(chief, Seed(tool="cam"), "poisoned", seen=clock.now())
    assert (job.agent_id, job.key_id) == (chief.agent_id, chief.key_id)
    blast.blast_run(plot.tenant_id, job.id)
    another = make_agent(plot.stage.tenant, "orchestrator", ["*=rwp"])
    with pytest.raises(NotFound):
        blast.blast_undo(another.principal, job.id)
    undo(plot, job)
    assert plot.statuses(ids) == ["live", "live"]


@pytest.mark.parametrize("step", ["hold", "bring_back"])
def test_worker__dies_between_batches__the_next_goes_on(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plot = Plot()
    ids = plot.plant(25, tool="cam")
    monkeypatch.setattr(blast, "_BATCH", 10)
    monkeypatch.setattr(bulk_work, "BACK_BATCH", 10)
    job = hold(plot, Seed(tool="cam")) if step == "bring_back" else asked(plot, Seed(tool="cam"))
    if step == "bring_back":
        job = blast.blast_undo(plot.stage.reviewer.principal, job.id)
    real, calls = getattr(bulk_steps, step), [0]

    def dying(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise Killed
        return real(*args, **more)

    monkeypatch.setattr(bulk_steps, step, dying)
    with pytest.raises(Killed):
        blast.blast_run(plot.tenant_id, job.id)
    half = reread(plot, job)
    assert half.status == "running" and 0 < half.done < 25
    changed = plot.count(
        "memory_auditevent", f"request_id = '{show_id('job', job.id)}' AND target_kind = 'memory'"
    )
    assert changed == half.done, "a batch without its audit, or the other way round"
    assert blast.blast_run(plot.tenant_id, job.id) == "busy", "the dead worker's lease still runs"
    monkeypatch.setattr(bulk_steps, step, real)
    with clock.moved_to(clock.now() + timedelta(seconds=61)):
        assert blast.blast_run(plot.tenant_id, job.id) == "done"
    assert set(plot.statuses(ids)) == {"live" if step == "bring_back" else "quarantined"}
    ended = reread(plot, job)
    assert ended.done == 25 and ended.result.get("left", 0) == 0
    assert audit_verify(plot.tenant_id).report.ok


def test_undo__the_place_is_taken_at_that_moment__is_looked_at_again() -> None:
    """A writer that has not committed yet holds the place: the unique index says so once it has, and nothing breaks."""
    plot = Plot()
    request = WriteRequest(
        content="The press halls of the north yard open at seven.", scope="project:alpha", origin="tool_verified",
        tool="cam",
    )  # fmt: skip
    first = memory_write(plot.stage.coder.principal, request).memory
    assert first is not None
    job = hold(plot, Seed(tool="cam"))
    written, pause = threading.Event(), threading.Event()

    def writer() -> None:
        try:
            with plot.stage.context():
                memory_write(plot.stage.orchestrator.principal, request)
                written.set()
                pause.wait(1)
        finally:
            connections.close_all()

    thread = threading.Thread(target=writer)
    thread.start()
    assert written.wait(10)
    back = undo(plot, job)
    thread.join()
    assert (back.done, back.result["left"]) == (0, 1)
    assert plot.statuses([first.id]) == ["quarantined"]
    assert plot.count("memory_memory", "status = 'live'") == 1


def test_steps__side_by_side__count_each_memory_once() -> None:
    plot = Plot()
    ids = plot.plant(300, tool="cam")
    jobs = [asked(plot, Seed(tool="cam")), asked(plot, Seed(since=NOW - DAY, until=NOW + DAY))]
    at_once([lambda one=one: blast.blast_run(plot.tenant_id, one.id) for one in jobs for _ in range(2)])  # type: ignore[misc]
    assert set(plot.statuses(ids)) == {"quarantined"}
    assert sum(reread(plot, one).done for one in jobs) == 300
    assert plot.count("memory_revision", "event = 'memory.quarantined'") == 300


def test_worker__the_step_asked_for__is_done_by_it() -> None:
    plot = Plot()
    ids = plot.plant(3, tool="cam")
    app.control.purge()
    with worker() as process:
        job = asked(plot, Seed(tool="cam"))
        process.until(r"memory\.run_blast_job\[.*succeeded")
    assert plot.statuses(ids) == ["quarantined"] * 3
    assert reread(plot, job).status == "done"


def test_sweep_of_tasks__a_step_that_nobody_works_on__is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.services.sweeps import tasks as sweep

    plot = Plot()
    plot.plant(3, tool="cam")
    job = asked(plot, Seed(tool="cam"))
    sent: list[tuple[UUID, UUID, str]] = []
    monkeypatch.setattr(sweep, "dispatch", lambda *given: sent.append(given))
    sweep_tasks(plot.tenant_id, now=clock.now() + timedelta(minutes=6))
    assert sent == [(plot.tenant_id, job.id, blast.HOLD)]


def test_step__10000_memories__take_less_than_five_seconds() -> None:
    plot = Plot()
    (root,) = plot.plant(tool="cam", content="root ")
    plot.plant(9_999, content="derived ", derived_from=[root])
    plot.plant(2_000, content="other ")
    job = asked(plot, Seed(memory=root))
    began = perf_counter()
    assert blast.blast_run(plot.tenant_id, job.id) == "done"
    took = perf_counter() - began
    assert reread(plot, job).done == 10_000
    assert plot.count("memory_memory", "status = 'quarantined'") == 10_000
    # The limit is that of a machine with a core to spare; a machine in demand gets time in proportion.
    assert took < 5 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), f"{took:.1f} s"


def test_undo__agents__find_what_came_back_by_words_and_by_meaning() -> None:
    plot = Plot()
    plot.plant(30, tool="cam")
    undo(plot, hold(plot, Seed(tool="cam")))
    assert (
        plot.count("memory_index", "embedding IS NOT NULL AND term_count = 3 AND cardinality(terms) = 3")
        == 30
    )


def test_memory__untouched_by_the_step__keeps_counters_pins_and_links() -> None:
    plot = Plot()
    (ident,) = plot.plant(tool="cam", use_count=7, reproductions=2, pinned_at=NOW, pinned_by="someone")
    with plot.stage.context():
        before = Memory.objects.filter(id=ident).values().get()
    undo(plot, hold(plot, Seed(tool="cam")))
    with plot.stage.context():
        after = Memory.objects.filter(id=ident).values().get()
    moved = {"version", "status_reason", "status_changed_at"}
    assert {name for name in before if before[name] != after[name]} == moved

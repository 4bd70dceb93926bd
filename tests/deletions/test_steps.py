"""Deleting many memories in one step, and taking that step back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memgov import clock
from memory.domain.ids import show_id
from memory.models import AuditEvent, Job, Memory
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services import bulk_work, deletion_steps
from memory.services.audit_verify import audit_verify
from memory.services.deletion import Wish, as_json, from_json
from memory.services.deletion_steps import deletion_look, deletion_run, deletion_undo, memories_delete
from memory.services.errors import Conflict, Denied, Invalid, NotFound, VersionConflict
from memory.services.restore import memory_restore
from memory.store import bulk_steps
from tests.factories import make_agent, make_person, make_tenant
from tests.killed import Killed
from tests.search_index import out_of_step
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)


def by(**filters: Any) -> Chosen:
    return Chosen(filters=MemoryFilters(**filters))


def wish(chosen: Chosen, **more: Any) -> Wish:
    return Wish(chosen, more.pop("reason", "a test run"), **more)


def reread(plot: Plot, job: Job) -> Job:
    with plot.stage.context():
        return Job.objects.get(id=job.id)


def undone(plot: Plot, job: Job) -> Job:
    back = deletion_undo(plot.stage.reviewer.principal, job.id)
    assert deletion_run(plot.tenant_id, back.id) == "done"
    return reread(plot, back)


def test_small_step__by_filter__is_done_at_once_and_comes_back_as_it_was() -> None:
    plot = Plot()
    mine = plot.plant(3, session="s1")
    (contested,) = plot.plant(content="two ", session="s1", status="contested")
    (archived,) = plot.plant(content="old ", session="s1", status="archived")
    others = plot.plant(2, content="other ", session="s2")
    done = memories_delete(plot.stage.reviewer.principal, wish(by(session="s1")))
    assert (
        plot.statuses([*mine, contested, archived, *others]) == ["deleted"] * 4 + ["archived"] + ["live"] * 2
    )
    assert (done.job.status, done.job.done, done.look.going) == ("done", 4, 4)
    assert out_of_step(plot.stage) == []
    assert plot.count("memory_index") == 2
    back = undone(plot, done.job)
    assert plot.statuses([*mine, contested, archived]) == ["live"] * 3 + ["contested", "archived"]
    assert (back.done, back.result["left"]) == (4, 0)
    assert out_of_step(plot.stage) == []
    assert audit_verify(plot.tenant_id).report.ok


def test_audit__one_event_for_the_step_beside_one_for_each_memory__and_no_text() -> None:
    plot = Plot()
    ids = plot.plant(3, subject="user:77", predicate="note")
    done = memories_delete(plot.stage.reviewer.principal, wish(by(subject="user:77")))
    shown = show_id("job", done.job.id)
    with plot.stage.context():
        events = AuditEvent.objects.filter(request_id=shown, action="memory.deleted")
        assert {event.target_id for event in events} == {show_id("mem", one) for one in ids}
        assert {event.actor_id for event in events} == {plot.stage.reviewer.principal.id}
        (told,) = AuditEvent.objects.filter(target_id=shown)
    assert (told.action, told.reason) == ("memories.deleted", "a test run")
    assert told.after == {"entries": 3, "left": 0, "cascade": False, "filter": ["subject"]}


@pytest.mark.parametrize("large", [False, True])
def test_cascade__takes_what_was_derived_at_any_depth__only_when_asked(
    large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = Plot()
    if large:
        monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    (root,) = plot.plant(tool="cam", content="root ")
    (child,) = plot.plant(content="child ", derived_from=[root])
    (grandchild,) = plot.plant(content="grandchild ", derived_from=[child], status="superseded")
    (pinned,) = plot.plant(content="pinned ", derived_from=[root], pinned_at=NOW, pinned_by="owner")
    actor = plot.stage.reviewer.principal
    seen = deletion_look(actor, wish(by(tool="cam")))
    assert (seen.going, seen.derived) == (1, 2)
    assert {row.id for row in seen.derived_sample} == {child, grandchild}
    done = memories_delete(actor, wish(by(tool="cam"), cascade=True))
    if large:
        assert done.job.status == "queued" and plot.statuses([root]) == ["live"]
        assert deletion_run(plot.tenant_id, done.job.id) == "done"
    assert plot.statuses([root, child, grandchild, pinned]) == ["deleted"] * 3 + ["live"]
    job = reread(plot, done.job)
    assert job.done == 3 and job.result["left_reasons"] == {"pinned": 1}
    undone(plot, job)
    assert plot.statuses([root, child, grandchild]) == ["live", "live", "superseded"]


def test_pinned__left_by_a_filter__taken_when_named() -> None:
    plot = Plot()
    actor = plot.stage.reviewer.principal
    (pinned,) = plot.plant(content="a ", session="s", pinned_at=NOW, pinned_by="owner")
    (over,) = plot.plant(content="b ", session="s", pinned_at=NOW, pinned_until=NOW, pinned_by="owner")
    done = memories_delete(actor, wish(by(session="s")))
    assert plot.statuses([pinned, over]) == ["live", "deleted"]
    assert done.look.left == {"pinned": 1} and [row.id for row in done.look.left_named] == [pinned]
    with pytest.raises(Conflict) as refused:
        memories_delete(actor, wish(by(session="s")))
    assert refused.value.code == "nothing_to_do" and refused.value.more["left"] == {"pinned": 1}
    memories_delete(actor, wish(by(session="s", pinned=True)))
    assert plot.statuses([pinned]) == ["deleted"]


def test_agent__deletes_what_it_wrote__and_with_every_right_also_others() -> None:
    plot = Plot()
    stage = plot.stage
    coder, other = stage.coder, make_agent(stage.tenant, "coder", ["project:alpha=rw"])
    own = plot.plant(2, agent_id=coder.agent.id)
    foreign = plot.plant(2, content="foreign ", agent_id=other.agent.id)
    unseen = plot.plant(content="unseen ", scope="project:beta", agent_id=coder.agent.id)
    shared = plot.plant(content="shared ", scope="shared", agent_id=coder.agent.id)
    done = memories_delete(coder.principal, wish(by(kinds=["fact"])))
    assert done.look.left == {"not_own": 2, "scope_denied": 1}
    assert plot.statuses([*own, *foreign, *unseen, *shared]) == ["deleted"] * 2 + ["live"] * 4
    named = Chosen(ids=(foreign[0], unseen[0], own[0]))
    with pytest.raises(Denied) as denied:
        memories_delete(coder.principal, wish(named))
    assert denied.value.more["not_found"] == [show_id("mem", unseen[0])]
    assert denied.value.more["already"] == [show_id("mem", own[0])]
    assert plot.count("memory_auditevent", "action = 'access.denied'") == 1
    memories_delete(stage.orchestrator.principal, wish(by(kinds=["fact"])))
    assert set(plot.statuses([*foreign, *unseen, *shared])) == {"deleted"}
    with pytest.raises(NotFound):
        deletion_undo(other.principal, done.job.id)


def test_ids__of_another_tenant_and_unknown__are_not_found_and_untouched() -> None:
    plot, foreign = Plot(), Plot()
    (there,) = foreign.plant()
    (mine,) = plot.plant()
    done = memories_delete(plot.stage.reviewer.principal, wish(Chosen(ids=(mine, there, UUID(int=7)))))
    assert done.job.done == 1 and done.look.not_found == [there, UUID(int=7)]
    assert foreign.statuses([there]) == ["live"]
    with pytest.raises(NotFound):
        memories_delete(plot.stage.reviewer.principal, wish(Chosen(ids=(there,))))
    with pytest.raises(NotFound):
        deletion_undo(foreign.stage.reviewer.principal, done.job.id)


def test_asked_for_wrongly__changes_nothing() -> None:
    plot = Plot()
    ids = plot.plant(2, session="s")
    reviewer = plot.stage.reviewer.principal
    for chosen in (Chosen(), by(), by(scopes=[])):
        with pytest.raises(Invalid) as refused:
            memories_delete(reviewer, wish(chosen))
        assert refused.value.code == "filter_needed"
    with pytest.raises(Invalid, match="say why"):
        memories_delete(reviewer, wish(by(session="s"), reason=" "))
    with pytest.raises(Invalid, match="future"):
        memories_delete(reviewer, wish(by(session="s"), seen=clock.now() + DAY))
    with pytest.raises(Conflict, match="nothing matches"):
        memories_delete(reviewer, wish(by(session="none")))
    with pytest.raises(Denied):
        memories_delete(make_person(plot.stage.tenant, "auditor").principal, wish(by(session="s")))
    assert plot.statuses(ids) == ["live", "live"] and plot.count("memory_job") == 0


def test_decided_on_a_look__what_came_since_stays__and_another_set_is_refused() -> None:
    plot = Plot()
    actor = plot.stage.reviewer.principal
    early = plot.plant(2, content="a ", session="s")
    seen = deletion_look(actor, wish(by(session="s")))
    late = plot.plant(content="b ", session="s", at=clock.now())
    pinned = plot.plant(content="c ", session="s")
    with pytest.raises(VersionConflict):
        memories_delete(actor, wish(by(session="s"), seen=seen.seen, seal=seen.seal))
    again = deletion_look(actor, wish(by(session="s"), seen=seen.seen))
    memories_delete(actor, wish(by(session="s"), seen=again.seen, seal=again.seal))
    assert plot.statuses([*early, *pinned, *late]) == ["deleted"] * 3 + ["live"]


def test_undo__what_changed_since_or_lost_its_place__is_left_and_named() -> None:
    plot = Plot()
    restored, taken, plain = (plot.plant(content=f"{name} ", session="s")[0] for name in ("a", "b", "c"))
    done = memories_delete(plot.stage.reviewer.principal, wish(by(session="s")))
    memory_restore(plot.stage.reviewer.principal, restored, "needed")
    plot.plant(content="b ")
    back = undone(plot, done.job)
    assert plot.statuses([restored, taken, plain]) == ["live", "deleted", "live"]
    assert back.done == 1 and set(back.result["left_named"]) == {
        show_id("mem", one) for one in (restored, taken)
    }
    with pytest.raises(Conflict, match="already"):
        deletion_undo(plot.stage.reviewer.principal, done.job.id)


def test_undo__early_or_late__is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plot = Plot()
    plot.plant(3, session="s")
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    waiting = memories_delete(plot.stage.reviewer.principal, wish(by(session="s"))).job
    with pytest.raises(Conflict, match="under way"):
        deletion_undo(plot.stage.reviewer.principal, waiting.id)
    assert deletion_run(plot.tenant_id, waiting.id) == "done"
    with clock.moved_to(clock.now() + 31 * DAY), pytest.raises(Conflict, match="30 days"):
        deletion_undo(plot.stage.reviewer.principal, waiting.id)


@pytest.mark.parametrize("step", ["delete", "bring_back"])
def test_worker__dies_between_batches__the_next_goes_on(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plot = Plot()
    ids = plot.plant(25, session="s")
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    monkeypatch.setattr(deletion_steps, "_BATCH", 10)
    monkeypatch.setattr(bulk_work, "BACK_BATCH", 10)
    job = memories_delete(plot.stage.reviewer.principal, wish(by(session="s"))).job
    if step == "bring_back":
        assert deletion_run(plot.tenant_id, job.id) == "done"
        job = deletion_undo(plot.stage.reviewer.principal, job.id)
    real, calls = getattr(bulk_steps, step), [0]

    def dying(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise Killed
        return real(*args, **more)

    monkeypatch.setattr(bulk_steps, step, dying)
    with pytest.raises(Killed):
        deletion_run(plot.tenant_id, job.id)
    half = reread(plot, job)
    assert half.status == "running" and half.done == 10
    shown = show_id("job", job.id)
    assert plot.count("memory_auditevent", f"request_id = '{shown}' AND target_kind = 'memory'") == 10
    assert deletion_run(plot.tenant_id, job.id) == "busy", "the dead worker's lease still runs"
    monkeypatch.setattr(bulk_steps, step, real)
    with clock.moved_to(clock.now() + timedelta(seconds=61)):
        assert deletion_run(plot.tenant_id, job.id) == "done"
    assert set(plot.statuses(ids)) == {"live" if step == "bring_back" else "deleted"}
    assert reread(plot, job).done == 25
    assert audit_verify(plot.tenant_id).report.ok


def test_large_step__of_an_agent_whose_key_was_closed__fails_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from memory.services import tenancy

    plot = Plot()
    coder = plot.stage.coder
    ids = plot.plant(3, agent_id=coder.agent.id)
    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    job = memories_delete(coder.principal, wish(by(kinds=["fact"]))).job
    tenancy.key_revoke(plot.stage.owner.principal, coder.key, "lost")
    assert deletion_run(plot.tenant_id, job.id) == "failed"
    assert reread(plot, job).error and plot.statuses(ids) == ["live"] * 3


def test_row_changed_while_it_ran__is_left_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    plot = Plot()
    ids = plot.plant(3, session="s")
    real = bulk_steps.delete

    def late(step: Any, versions: dict[UUID, int], reached: Any) -> Any:
        return real(step, {one: version + (one == ids[0]) for one, version in versions.items()}, reached)

    monkeypatch.setattr(bulk_steps, "delete", late)
    done = memories_delete(plot.stage.reviewer.principal, wish(by(session="s")))
    assert (done.job.done, done.job.result["left_reasons"]) == (2, {"changed": 1})
    assert plot.statuses(ids).count("live") == 1


def test_filters__kept_with_a_job__are_the_same_when_read_again() -> None:
    every = MemoryFilters(
        scopes=["shared"], statuses=["live"], subject="user:1", agent=UUID(int=5), pinned=False,
        updated_after=NOW, recorded_after=NOW, recorded_before=NOW + DAY, words="x", tool="cam", task="t",
    )  # fmt: skip
    assert from_json(as_json(Chosen(filters=every))) == Chosen(filters=every)
    ids = Chosen(ids=(UUID(int=3), UUID(int=4)))
    assert from_json(as_json(ids)) == ids


def test_ten_thousand__are_gone_in_seconds__with_a_chain_that_holds() -> None:
    plot = Plot()
    plot.plant(10_000, session="s")
    job = memories_delete(plot.stage.reviewer.principal, wish(by(session="s"))).job
    assert job.status == "queued" and job.total == 10_000
    assert deletion_run(plot.tenant_id, job.id) == "done"
    with plot.stage.context():
        assert not Memory.objects.exclude(status="deleted").exists()
    assert reread(plot, job).done == 10_000
    assert audit_verify(plot.tenant_id).report.ok


def test_agent_of_another_tenant__takes_nothing_back() -> None:
    plot = Plot()
    plot.plant(2, session="s")
    done = memories_delete(plot.stage.orchestrator.principal, wish(by(session="s")))
    with pytest.raises(NotFound):
        deletion_undo(make_tenant().orchestrator.principal, done.job.id)
    back = deletion_undo(plot.stage.orchestrator.principal, done.job.id)
    assert back.agent_id == plot.stage.orchestrator.agent.id


def test_long_reason__is_refused_and_not_cut() -> None:
    plot = Plot()
    rows = plot.plant(2, session="s1")
    with pytest.raises(Invalid, match="501 letters"):
        memories_delete(plot.stage.reviewer.principal, wish(by(session="s1"), reason="z" * 501))
    assert plot.statuses(rows) == ["live", "live"]
    memories_delete(plot.stage.reviewer.principal, wish(by(session="s1"), reason="z" * 500))
    assert plot.statuses(rows) == ["deleted", "deleted"]

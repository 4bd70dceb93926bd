"""Restoring: whatever ended a memory, it comes back whole; what lives in its place is decided, never overwritten."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Contradiction, Memory
from memory.services.audit_verify import audit_verify
from memory.services.contradictions import contradiction_settle
from memory.services.errors import Conflict, Denied, VersionConflict
from memory.services.memory_write import memory_write
from memory.services.restore import clash_of, memory_restore
from memory.services.retention import memory_delete, memory_pin
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_expiry
from memory.services.write_types import WriteRequest
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage, make_tenant
from tests.search_index import out_of_step

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant(policy=Policy.model_validate({"retention": {"sweep_guard": 1.0}}))


def know(stage: Stage, value: str, machine: Any = None, **fields: Any) -> Memory:
    given = {
        "subject": "user:42",
        "predicate": "plan",
        "scope": "project:alpha",
        "origin": "tool_verified",
        **fields,
    }
    outcome = memory_write((machine or stage.coder).principal, WriteRequest(value=value, **given))
    assert outcome.memory is not None
    return outcome.memory


def reread(stage: Stage, memory: Memory) -> Memory:
    with stage.context():
        return Memory.objects.get(id=memory.id)


def replaced(stage: Stage) -> tuple[Memory, Memory]:
    """A plan that gave way to a newer one."""
    old = know(stage, "starter")
    return old, know(stage, "enterprise")


def test_restore__superseded__is_shown_its_successor_and_decided(stage: Stage) -> None:
    old, new = replaced(stage)
    reviewer = stage.reviewer.principal
    with pytest.raises(Conflict, match="lives in its place"):
        memory_restore(reviewer, old.id)
    assert (reread(stage, old).status, reread(stage, new).status) == ("superseded", "live")
    with stage.context():
        clash = clash_of(reread(stage, old))
    assert [row.id for row in clash.contradicting] == [new.id]
    back = memory_restore(
        reviewer, old.id, "the change was never made", on_clash="replace", seen=clash.versions
    )
    assert (back.status, back.superseded_by) == ("live", None)
    gone = reread(stage, new)
    assert (gone.status, gone.superseded_by) == ("superseded", old.id)
    assert out_of_step(stage) == []
    assert audit_verify(stage.tenant.id).report.ok


def test_restore__contested__lets_both_stand_for_a_person(stage: Stage) -> None:
    old, new = replaced(stage)
    back = memory_restore(stage.reviewer.principal, old.id, on_clash="contest", seen={new.id: new.version})
    assert (back.status, reread(stage, new).status) == ("contested", "contested")
    with stage.context():
        found = Contradiction.objects.get(status="open")
    assert {found.memory_a, found.memory_b} == {old.id, new.id}
    keep = "keep_a" if found.memory_a == new.id else "keep_b"
    contradiction_settle(stage.reviewer.principal, found.id, keep, "asked", version=found.version)
    assert (reread(stage, old).status, reread(stage, new).status) == ("superseded", "live")


@pytest.mark.parametrize("seen", [None, {}, "old"])
def test_restore__what_lives_there_was_not_seen_as_it_is__changes_nothing(stage: Stage, seen: Any) -> None:
    old, new = replaced(stage)
    given = {new.id: new.version + 1} if seen == "old" else seen
    with pytest.raises(VersionConflict):
        memory_restore(stage.reviewer.principal, old.id, on_clash="replace", seen=given)
    assert (reread(stage, old).status, reread(stage, new).status) == ("superseded", "live")


def test_restore__same_text_lives_again__is_merged_or_refused_but_never_doubled(stage: Stage) -> None:
    first = know(stage, "starter")
    memory_delete(stage.reviewer.principal, first.id, "wrong")
    again = know(stage, "starter")
    seen = {again.id: again.version}
    with pytest.raises(Conflict):
        memory_restore(stage.reviewer.principal, first.id, on_clash="contest", seen=seen)
    memory_restore(stage.reviewer.principal, first.id, on_clash="replace", seen=seen)
    gone = reread(stage, again)
    assert (gone.status, gone.merged_into, reread(stage, first).status) == ("merged", first.id, "live")


def test_restore__after_each_sweep__keeps_id_history_links_counters_and_pin(stage: Stage) -> None:
    source = know(stage, "starter", subject="user:1")
    with clock.moved_to(clock.now() - 400 * DAY):
        row = know(
            stage, "hall 4", subject="user:2", predicate="seat", derived_from=[source.id], session="s1"
        )
    memory_pin(stage.reviewer.principal, row.id, "kept", until=clock.now() + DAY / 2)
    with stage.context():
        Memory.objects.filter(id=row.id).update(use_count=1, reproductions=2, also_learned_in=["s2", "s3"])
    with clock.moved_to(clock.now() + DAY):
        assert sweep_decay(stage.tenant.id).changed == 1
        before = reread(stage, row)
        after = memory_restore(stage.reviewer.principal, row.id, "needed")
    kept = ("id", "derived_from", "use_count", "reproductions", "also_learned_in", "session", "recorded_at",
            "learned_at", "pinned_by", "pin_reason", "pinned_until", "confidence", "trust")  # fmt: skip
    assert {name: getattr(before, name) for name in kept} == {name: getattr(after, name) for name in kept}
    assert (before.status, after.status, after.version) == ("evicted", "live", before.version + 1)


def test_restore__by_an_agent__takes_what_a_sweep_took_and_not_what_a_person_removed(stage: Stage) -> None:
    ended = know(stage, "hall 4", predicate="seat", ttl="1d")
    removed = know(stage, "starter")
    memory_delete(stage.reviewer.principal, removed.id, "wrong")
    own = know(stage, "blue", predicate="badge")
    memory_delete(stage.coder.principal, own.id, "by mistake")
    with clock.moved_to(clock.now() + 2 * DAY):
        sweep_expiry(stage.tenant.id)
        assert memory_restore(stage.coder.principal, ended.id, "still there").status == "live"
        assert memory_restore(stage.coder.principal, own.id, "still there").status == "live"
        with pytest.raises(Denied):
            memory_restore(stage.coder.principal, removed.id, "still there")
    assert reread(stage, removed).status == "deleted"
    with pytest.raises(Conflict):
        memory_restore(stage.reviewer.principal, own.id, "twice")


def test_restore__compacted__needs_no_room_of_its_own(stage: Stage) -> None:
    policy = {"retention": {"sweep_guard": 1.0}, "reconciliation": {"cap": 1}}
    rows = [
        know(stage, value, predicate="badge", subject=f"user:{at}")
        for at, value in enumerate(("red", "blue"))
    ]
    from memory.services.policies import policy_activate

    policy_activate(stage.owner.principal, policy, "small")
    assert sweep_compaction(stage.tenant.id).changed == 1
    lost = next(row for row in rows if reread(stage, row).status == "archived")
    assert memory_restore(stage.reviewer.principal, lost.id).status == "live"


def test_api__restore__says_what_it_would_meet_and_takes_the_decision(stage: Stage) -> None:
    old, new = replaced(stage)
    coder = Caller(stage.coder)
    shown = f"mem_{old.id.hex}"
    look = coder.get(f"memories/{shown}/restore").json()
    assert look["clash"] == [
        {"memory": f"mem_{new.id.hex}", "version": 1, "status": "live", "relation": "contradicting"}
    ]
    assert_problem(coder.post(f"memories/{shown}/restore", {}), 409, "place_taken")
    stale = {"on_clash": "replace", "seen": [{"memory": f"mem_{new.id.hex}", "version": 9}]}
    assert_problem(coder.post(f"memories/{shown}/restore", stale), 412, "version_conflict")
    asked = {
        "on_clash": "replace",
        "seen": [{"memory": f"mem_{new.id.hex}", "version": 1}],
        "reason": "it was right",
    }
    answer = coder.post(f"memories/{shown}/restore", asked)
    assert (answer.status_code, answer.json()["status"]) == (200, "live")
    assert_problem(coder.post(f"memories/{shown}/restore", {}), 409, "illegal_transition")


def test_api__derived__lists_what_a_cascade_would_take_at_any_depth(stage: Stage) -> None:
    coder = Caller(stage.coder)
    first = coder.remember("Mill four delivers paper on Mondays.")["id"]
    second = coder.remember("The press halls open at seven.", derived_from=[first])["id"]
    third = coder.remember("Invoices are signed by two people.", derived_from=[second])["id"]
    found = coder.get(f"memories/{first}/derived").json()["memories"]
    assert {one["id"] for one in found} == {second, third}
    gone = coder.delete(f"memories/{first}?reason=wrong&cascade=true").json()["deleted"]
    assert set(gone) == {first, second, third}
    assert coder.get(f"memories/{first}/derived").json()["memories"] == []

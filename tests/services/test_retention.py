"""Pin, verify, edit, delete, restore: each with its history, and each way back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.models import AuditEvent, Memory, MemoryIndex, Revision
from memory.services import retention
from memory.services.errors import Conflict, Denied, Invalid, VersionConflict
from memory.services.memory_edit import Refused, memory_edit
from memory.services.memory_write import memory_write
from memory.services.write_types import WriteRequest
from tenants.principals import Principal
from tests.factories import Stage, make_agent, make_person, make_tenant

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(principal: Principal, content: str | None = None, **fields: object) -> Memory:
    fields.setdefault("scope", "project:alpha")
    fields.setdefault("origin", "tool_verified")
    outcome = memory_write(principal, WriteRequest(content=content, **fields))  # type: ignore[arg-type]
    assert outcome.memory is not None, outcome
    return outcome.memory


def now_row(stage: Stage, memory: Memory) -> Memory:
    with stage.context():
        return Memory.objects.get(id=memory.id)


def test_pin__with_reason_and_end__kept_and_taken_off(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    with pytest.raises(Invalid):
        retention.memory_pin(stage.reviewer.principal, memory.id, " ")
    until = clock.now() + timedelta(days=3)
    retention.memory_pin(stage.reviewer.principal, memory.id, "needed daily", until=until)
    pinned = now_row(stage, memory)
    assert (pinned.pin_reason, pinned.pinned_until, pinned.version) == ("needed daily", until, 2)
    retention.memory_unpin(stage.reviewer.principal, memory.id, "no longer")
    assert now_row(stage, memory).pinned_at is None


def test_delete_and_restore__id_history_and_counters_come_back(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    retention.memory_pin(stage.reviewer.principal, memory.id, "needed daily")
    retention.memory_delete(stage.reviewer.principal, memory.id, "moved away")
    with stage.context():
        assert not MemoryIndex.objects.filter(memory_id=memory.id).exists(), "index and row go together"
    retention.memory_restore(stage.reviewer.principal, memory.id, "it was right")
    row = now_row(stage, memory)
    assert (row.status, row.pin_reason, row.version) == ("live", "needed daily", 4)
    with stage.context():
        assert list(Revision.objects.order_by("version").values_list("version", flat=True)) == [1, 2, 3, 4]
        assert MemoryIndex.objects.get(memory_id=memory.id).embedding is not None


def test_delete__with_cascade__takes_what_was_derived_at_any_depth(stage: Stage) -> None:
    root = write(stage.coder.principal, "The press halls open at seven.")
    child = write(stage.coder.principal, "Deliveries come after seven.", derived_from=[root.id])
    grandchild = write(
        stage.coder.principal, "The gate crew starts at half past six.", derived_from=[child.id]
    )
    alone = write(stage.coder.principal, "The red dye needs two hours to dry.")
    gone = retention.memory_delete(stage.reviewer.principal, root.id, "wrong source", cascade=True)
    assert {row.id for row in gone} == {root.id, child.id, grandchild.id}
    assert now_row(stage, alone).status == "live"


def test_restore__place_taken__shown_and_not_overwritten(stage: Stage) -> None:
    old = write(stage.coder.principal, subject="press", predicate="region", value="north-cove")
    write(stage.coder.principal, subject="press", predicate="region", value="south-cove")
    with pytest.raises(Conflict) as taken:
        retention.memory_restore(stage.reviewer.principal, old.id, "it was right")
    assert taken.value.code == "place_taken" and "south-cove" in taken.value.detail
    assert now_row(stage, old).status == "superseded"


def test_restore__after_thirty_days__refused(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    retention.memory_delete(stage.reviewer.principal, memory.id, "gone")
    with clock.moved_to(clock.now() + timedelta(days=31)), pytest.raises(Conflict) as late:
        retention.memory_restore(stage.reviewer.principal, memory.id)
    assert late.value.code == "restore_too_late"


def test_verify__moves_learned_at_only(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    with clock.moved_to(clock.now() + timedelta(days=40)):
        retention.memory_verify(stage.coder.principal, memory.id)
    row = now_row(stage, memory)
    assert row.learned_at - memory.learned_at >= timedelta(days=40)
    assert (row.version, row.last_used_at) == (1, None)


def test_edit__content__everything_else_stays(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.", kind="preference", ttl="14d")
    retention.memory_pin(stage.reviewer.principal, memory.id, "needed daily")
    before = now_row(stage, memory)
    memory_edit(stage.coder.principal, memory.id, {"content": "The press halls open at eight."}, version=2)
    after = now_row(stage, memory)
    assert after.content == "The press halls open at eight." and after.version == 3
    for name in (
        "kind",
        "pin_reason",
        "expires_at",
        "trust",
        "origin",
        "agent_id",
        "learned_at",
        "use_count",
    ):
        assert getattr(after, name) == getattr(before, name), name
    with stage.context():
        assert "eight" not in str(AuditEvent.objects.get(action="memory.edited").after)


def test_edit__bad_text_or_old_version_or_no_grant__refused_nothing_changed(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    with pytest.raises(Refused) as vague:
        memory_edit(stage.coder.principal, memory.id, {"content": "ok"}, version=1)
    assert vague.value.code == "too_vague"
    with pytest.raises(VersionConflict):
        memory_edit(stage.coder.principal, memory.id, {"content": "The press halls open at nine."}, version=7)
    with pytest.raises(Invalid):
        memory_edit(stage.coder.principal, memory.id, {"trust": 1.0}, version=1)
    reader = make_agent(stage.tenant, "reader", ["project:alpha=r"]).principal
    with pytest.raises(Denied):
        memory_edit(reader, memory.id, {"content": "The press halls open at nine."}, version=1)
    assert now_row(stage, memory).version == 1


def test_acts_of_people__by_an_auditor__denied(stage: Stage) -> None:
    memory = write(stage.coder.principal, "The press halls open at seven.")
    auditor = make_person(stage.tenant, "auditor").principal
    acts = (
        lambda: retention.memory_pin(auditor, memory.id, "why"),
        lambda: retention.memory_verify(auditor, memory.id),
        lambda: retention.memory_delete(auditor, memory.id, "why"),
        lambda: retention.memory_restore(auditor, memory.id),
        lambda: memory_edit(auditor, memory.id, {"content": "The press halls open at nine."}, version=1),
        lambda: memory_write(
            auditor, WriteRequest(content="The press halls are old.", scope="project:alpha")
        ),
    )
    for act in acts:
        with pytest.raises(Denied):
            act()
    row = now_row(stage, memory)
    assert (row.status, row.version, row.learned_at) == ("live", 1, memory.learned_at)

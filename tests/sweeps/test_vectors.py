"""The vector index is fed in large tenants, and a search finds the same before and after."""

from __future__ import annotations

import pytest

from memory.models import AuditEvent, MemoryIndex
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.sweeps import sweep_vectors, vectors
from memory.services.write_types import WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")
THINGS = ("kiln", "crane", "ledger", "press", "mill")


@pytest.fixture
def stage() -> Stage:
    return filled()


def filled() -> Stage:
    stage = make_tenant()
    for at, thing in enumerate(THINGS):
        offered = WriteRequest(
            content=f"The {thing} of hall {at} hums.", scope="project:alpha", origin="user_explicit"
        )
        assert memory_write(stage.orchestrator.principal, offered).outcome == "stored"
    return stage


def fed(stage: Stage) -> int:
    with stage.context():
        return MemoryIndex.objects.filter(settled=True).count()


def found(stage: Stage) -> list[str]:
    read = memory_retrieve(stage.orchestrator.principal, RetrieveRequest(query="where does the crane hum"))
    return [entry.found.content for entry in read.entries]


def test_vectors__small_tenant__is_left_alone(stage: Stage) -> None:
    assert sweep_vectors(stage.tenant.id).changed == 0 and fed(stage) == 0


def test_vectors__large_tenant__is_fed_once_and_finds_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MOST_EXACT", 3)
    monkeypatch.setattr(vectors, "_BATCH", 2)
    other, before, told = filled(), found(stage), []
    with stage.context():
        audited = AuditEvent.objects.count()
    assert sweep_vectors(stage.tenant.id, dry_run=True).changed == 5 and fed(stage) == 0
    run = sweep_vectors(stage.tenant.id, progress=lambda done, total: told.append((done, total)))
    assert (run.status, run.changed, fed(stage), fed(other)) == ("done", 5, 5, 0)
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert sweep_vectors(stage.tenant.id).changed == 0
    assert found(stage) == before and before
    with stage.context():
        assert AuditEvent.objects.count() == audited, "no memory has changed"


def test_vectors__changed_text__leaves_the_index_until_the_next_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MOST_EXACT", 3)
    sweep_vectors(stage.tenant.id)
    with stage.context():
        memory_id = MemoryIndex.objects.values_list("memory_id", flat=True).first()
    memory_edit(stage.orchestrator.principal, memory_id, {"content": "The kiln is cold."}, version=1)
    assert fed(stage) == 4
    assert sweep_vectors(stage.tenant.id).changed == 1 and fed(stage) == 5

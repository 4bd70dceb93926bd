"""Filling makes the rows that writes make: or the sizes of a measurement would be sizes of something else."""

from __future__ import annotations

from typing import Any

import pytest

from bench.fill import fill, request_of
from bench.plant import Planting, make_indexes, plant, without_vector_indexes
from bench.workload import fact, facts
from memory.models import Memory, MemoryIndex, Revision
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from tenants.context import tenant_context
from tenants.principals import Principal
from tests.factories import make_tenant

pytestmark = pytest.mark.usefixtures("database")

# Who, which and when differ between two tenants.
_OWN = {
    "id",
    "tenant_id",
    "agent_id",
    "agent_name",
    "key_id",
    "recorded_at",
    "learned_at",
    "status_changed_at",
}
_OWN_INDEX = {"tenant_id", "memory_id", "learned_at", "source"}


def rows(principal: Principal) -> dict[str, Any]:
    """Everything stored of the tenant's memories, by text, without what has to differ."""
    with tenant_context(principal.tenant_id):
        found = {}
        for memory in Memory.objects.all():
            index = MemoryIndex.objects.filter(memory_id=memory.id).values().get()
            revision = Revision.objects.filter(memory_id=memory.id).get()
            found[memory.content] = (
                {name: value for name, value in vars(memory).items() if name not in _OWN and name[0] != "_"},
                {name: str(value) for name, value in index.items() if name not in _OWN_INDEX},
                (revision.version, revision.event, revision.state),
            )
        return found


def test_fill__some_memories__are_what_writes_store(superuser_url: str) -> None:
    written, filled = make_tenant().orchestrator.principal, make_tenant().orchestrator.principal
    for number in range(25):
        outcome = memory_write(written, request_of(fact(number)))
        assert outcome.outcome == "stored", outcome
    fill(filled, superuser_url, 0, 25)
    assert len(rows(filled)) == 25
    assert rows(filled) == rows(written)


def test_plant__copies__are_live_found_and_nobody_elses(superuser_url: str) -> None:
    planted, other = make_tenant().orchestrator.principal, make_tenant().orchestrator.principal
    dropped = without_vector_indexes(superuser_url)
    plant(planted, superuser_url, Planting(1_250, vectors=True))
    make_indexes(superuser_url, dropped)
    assert dropped and without_vector_indexes(superuser_url) == dropped
    make_indexes(superuser_url, dropped)
    with tenant_context(planted.tenant_id):
        assert Memory.objects.filter(status="live").count() == 1_250
        assert MemoryIndex.objects.exclude(embedding=None).count() == 1_250
    asked = RetrieveRequest(query=next(facts(3, 1)).text)
    assert memory_retrieve(planted, asked).entries
    assert not memory_retrieve(other, asked).entries

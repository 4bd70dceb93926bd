"""Purge: 30 days after a deletion the text is gone for good, and its shell stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Memory, Revision, WriteDecision
from memory.services.audit_verify import audit_verify
from memory.services.errors import Conflict
from memory.services.manifest_read import ERASED_TEXT, manifest_read
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete
from memory.services.sweeps import sweep_retention
from memory.services.write_types import WriteRequest
from tests.parallel import at_once
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
PHRASE = "quicksilver ledger of the northern mill"


def deleted(plot: Plot) -> Memory:
    """A memory with a derived one, that was read once and then deleted."""
    agent = plot.stage.coder.principal
    request = WriteRequest(content=f"The {PHRASE} is kept in vault nine.", scope="project:alpha",
                           origin="tool_verified", tags=["ledger"], metadata={"note": PHRASE})  # fmt: skip
    memory = memory_write(agent, request).memory
    assert memory is not None
    child = WriteRequest(content="Vault nine is opened by two people.", scope="project:alpha",
                         origin="tool_verified", derived_from=[memory.id])  # fmt: skip
    memory_write(agent, child)
    memory_delete(plot.stage.reviewer.principal, memory.id, "no longer kept")
    return memory


def test_purge__after_thirty_days__the_text_is_gone_everywhere_and_the_shell_stays() -> None:
    plot = Plot()
    agent = plot.stage.coder.principal
    asked = RetrieveRequest(query="where is the quicksilver ledger kept")
    request = WriteRequest(content=f"The {PHRASE} is kept in vault nine.", scope="project:alpha",
                           origin="tool_verified")  # fmt: skip
    memory = memory_write(agent, request).memory
    assert memory is not None
    manifest = memory_retrieve(agent, asked).manifest
    memory_delete(plot.stage.reviewer.principal, memory.id, "no longer kept")
    with clock.moved_to(clock.now() + 29 * DAY):
        assert sweep_retention(plot.tenant_id).changed == 0
    with clock.moved_to(clock.now() + 31 * DAY):
        assert sweep_retention(plot.tenant_id, dry_run=True).changed == 1
        assert sweep_retention(plot.tenant_id).changed == 1
        with pytest.raises(Conflict):
            memory_restore(plot.stage.reviewer.principal, memory.id, "after all")
        assert ERASED_TEXT in manifest_read(plot.stage.owner.principal, manifest.id).text
    with plot.stage.context():
        row = Memory.objects.get(id=memory.id)
        kept = str(list(Memory.objects.values())) + str(list(Revision.objects.values()))
        kept += str(list(WriteDecision.objects.values()))
    assert (row.status, row.content, row.agent_id) == ("erased", "", agent.agent_id)
    assert "quicksilver" not in kept and "vault nine" not in kept
    assert plot.count("memory_auditevent", "action = 'memory.purged'") == 1
    assert audit_verify(plot.tenant_id).report.ok


def test_purge__what_was_derived_and_what_was_not_deleted__stays() -> None:
    plot = Plot()
    memory = deleted(plot)
    other = plot.plant(3, status="evicted", at=clock.now())
    with clock.moved_to(clock.now() + 31 * DAY):
        runs = at_once([lambda: sweep_retention(plot.tenant_id) for _ in range(3)])
    assert sum(run.changed for run in runs) == 1
    assert plot.statuses(other) == ["evicted"] * 3
    with plot.stage.context():
        child = Memory.objects.get(derived_from__contains=[memory.id])
        assert child.status == "live" and child.content
    assert plot.count("memory_auditevent", "action = 'memory.purged'") == 1


def test_purge__scope_that_keeps_longer__holds_it_back() -> None:
    plot = Plot(Policy.model_validate({"scopes": {"project:*": {"retention": {"restore_days": 60}}}}))
    memory = deleted(plot)
    with clock.moved_to(clock.now() + 31 * DAY):
        sweep_retention(plot.tenant_id)
    assert plot.statuses([memory.id]) == ["deleted"]
    with clock.moved_to(clock.now() + 61 * DAY):
        sweep_retention(plot.tenant_id)
    assert plot.statuses([memory.id]) == ["erased"]

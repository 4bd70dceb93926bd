"""The demo: lived by the services, alive on every page, loaded once, gone when asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connections

from memory.demo import stage
from memory.demo.cast import QUILL
from memory.demo.play import DAYS
from memory.domain.audit_chain import verify
from memory.models import (
    AuditEvent,
    Contradiction,
    HealthSnapshot,
    Manifest,
    ManifestEntry,
    Memory,
    PolicyVersion,
    PromotionRequest,
    WriteDecision,
)  # fmt: skip
from memory.selectors import audit as audit_selectors
from memory.services.tenant_purge import tenant_tables
from tenants.context import tenant_context
from tenants.models import Tenant, User

# One worker loads the demo, once.
pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(scope="module")
def days() -> list[int]:
    return []


@pytest.fixture(scope="module")
def tenant(database: None, days: list[int]) -> Iterator[Tenant]:
    yield stage.load(QUILL, days.append)
    stage.remove(QUILL)


def test_demo__loaded__every_queue_and_chart_has_something(tenant: Tenant, days: list[int]) -> None:
    assert days == list(range(1, DAYS + 1))
    with tenant_context(tenant.id):
        statuses = set(Memory.objects.values_list("status", flat=True))
        assert statuses >= {"live", "quarantined", "superseded", "evicted", "expired"}
        assert set(WriteDecision.objects.values_list("outcome", flat=True)) >= {
            "stored", "duplicate", "superseded", "rejected", "held", "echo",
        }  # fmt: skip
        assert set(PromotionRequest.objects.values_list("status", flat=True)) >= {
            "pending",
            "approved",
            "rejected",
        }
        assert Contradiction.objects.filter(status="open").exists()
        assert Manifest.objects.exclude(usage_reported_at=None).exists()
        assert HealthSnapshot.objects.filter(scope="").count() >= DAYS - 1
        assert PolicyVersion.objects.count() == 2
        assert ManifestEntry.objects.filter(channel="declared").exists()
        assert Memory.objects.filter(agent_name__startswith="mount:", status="live").count() == len(
            QUILL.declared
        )
        assert AuditEvent.objects.filter(actor_kind="member").exists()
        assert verify(audit_selectors.chain(), audit_selectors.checkpoints()).ok


def test_demo__its_history__spans_ninety_days_and_ends_before_now(tenant: Tenant) -> None:
    with tenant_context(tenant.id):
        times = AuditEvent.objects.order_by("seq").values_list("at", flat=True)
        first, last = times[0], times.reverse()[0]
        assert 88 <= (last - first).days <= 90
        assert sorted(times) == list(times), "the chain is in the order of time"


def test_demo__secrets_in_what_agents_said__stored_nowhere(tenant: Tenant) -> None:
    with tenant_context(tenant.id):
        assert WriteDecision.objects.filter(findings__contains=[{"kind": "secret"}]).exists()
        for model in (Memory, WriteDecision):
            assert "ghp_" not in str(list(model.objects.values())), model.__name__


def test_demo__removed__nothing_of_it_is_left(tenant: Tenant) -> None:
    assert stage.is_loaded(QUILL)
    assert stage.remove(QUILL)
    assert not stage.is_loaded(QUILL)
    assert not User.objects.filter(email__endswith="@quillharbor.example").exists()
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT memgov.set_tenant(%s)", [tenant.id])
        for table in tenant_tables():
            cursor.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [tenant.id])
            assert cursor.fetchone() == (0,), table
    assert not stage.remove(QUILL), "a second removal finds nothing"

"""Writing what became of each candidate."""

from __future__ import annotations

from memory.models import WriteDecision
from tenants.context import current_tenant_id


def insert(decision: WriteDecision) -> None:
    """Store a decision."""
    decision.tenant_id = current_tenant_id()
    WriteDecision.objects.bulk_create([decision])

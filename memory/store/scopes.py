"""Scopes come into being at their first write; a session or task then belongs to the writing agent."""

from __future__ import annotations

from uuid import UUID

from memory.domain.scopes import OWNED_KINDS, Scope
from memory.models import ScopeRecord
from tenants.context import current_tenant_id


def ensure(scope: Scope, agent_id: UUID | None) -> UUID | None:
    """Record the scope if it is new; the owner of a session or task, None for the other kinds.

    Racing first users are settled by the unique name: one becomes the owner, the other is told who is.
    """
    record = ScopeRecord.objects.filter(name=str(scope)).first()
    if record is None:
        owner = agent_id if scope.kind in OWNED_KINDS else None
        new = ScopeRecord(
            tenant_id=current_tenant_id(), name=str(scope), kind=str(scope.kind), owner_agent_id=owner
        )
        ScopeRecord.objects.bulk_create([new], ignore_conflicts=True)
        record = ScopeRecord.objects.get(name=str(scope))
    return record.owner_agent_id

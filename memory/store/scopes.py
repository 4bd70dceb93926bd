"""Scopes come into being at their first write; a session or task then belongs to the writing agent."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from memory.domain.scopes import OWNED_KINDS, Scope
from memory.models import ScopeRecord
from tenants.context import tenant_context

# Scopes found committed: a record and its owner never change.
_found: dict[tuple[UUID, str], UUID | None] = {}
_KEPT = 20_000


def ensure(tenant_id: UUID, scope: Scope, agent_id: UUID | None) -> UUID | None:
    """Record the scope if it is new; the owner of a session or task, None for the other kinds.

    Racing first users are settled by the unique name: one becomes the owner, the other is told who is.
    """
    name = str(scope)
    if (tenant_id, name) in _found:
        return _found[tenant_id, name]
    committed = not connection.in_atomic_block  # a row found here may be our own, and still be taken back
    with tenant_context(tenant_id):
        record = ScopeRecord.objects.filter(name=name).first()
        if record is not None and committed:
            if len(_found) >= _KEPT:
                _found.clear()
            _found[tenant_id, name] = record.owner_agent_id
        if record is not None:
            return record.owner_agent_id
        owner = agent_id if scope.kind in OWNED_KINDS else None
        new = ScopeRecord(tenant_id=tenant_id, name=name, kind=str(scope.kind), owner_agent_id=owner)
        ScopeRecord.objects.bulk_create([new], ignore_conflicts=True)
        return ScopeRecord.objects.get(name=name).owner_agent_id

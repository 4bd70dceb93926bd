"""Removing a tenant for good, with everything that belongs to it.

Only commands call this: it connects as the owner's role, since the app's own role may never delete from the
audit.
"""

from __future__ import annotations

import pgtrigger
from django.apps import apps
from django.db import connections, transaction

from memory.services.transfer_files import forget
from tenants.models import Tenant

_OWNER = "owner"

# Rows that others refer to go last.
_LAST = ("memory_promotionrequest", "memory_manifest", "memory_memory", "tenants_agentkey", "tenants_agent")


def tenant_purge(tenant: Tenant) -> dict[str, int]:
    """Delete every row of the tenant and the tenant itself, in one transaction; rows deleted, by table."""
    deleted: dict[str, int] = {}
    with (
        transaction.atomic(using=_OWNER),
        connections[_OWNER].cursor() as cursor,
        pgtrigger.ignore("memory.AuditEvent:append_only", databases=[_OWNER]),
    ):
        cursor.execute("SELECT memgov.set_tenant(%s)", [tenant.id])
        for table in tenant_tables():
            cursor.execute(f"DELETE FROM {table} WHERE tenant_id = %s", [tenant.id])
            deleted[table] = cursor.rowcount
        cursor.execute("DELETE FROM tenants_tenant WHERE id = %s", [tenant.id])
    forget(tenant.id)
    return deleted


def tenant_tables() -> list[str]:
    """Every table with a tenant, those that others refer to last."""
    tables = {
        model._meta.db_table
        for model in apps.get_models()
        if any(getattr(field, "attname", "") == "tenant_id" for field in model._meta.concrete_fields)
    }
    return [*sorted(tables.difference(_LAST)), *_LAST]

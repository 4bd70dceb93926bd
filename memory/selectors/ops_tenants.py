"""Tenants and how large they are, for operators: numbers only, nothing that anybody wrote."""

from __future__ import annotations

from dataclasses import dataclass

from tenants.context import read_one
from tenants.models import Tenant

PAGE = 25

_SIZES = """
SELECT (SELECT count(*) FROM tenants_membership WHERE tenant_id = %(t)s),
       (SELECT count(*) FROM tenants_agent WHERE tenant_id = %(t)s),
       (SELECT count(*) FROM memory_memory WHERE tenant_id = %(t)s),
       (SELECT count(*) FROM memory_memory WHERE tenant_id = %(t)s AND status IN ('live', 'contested')),
       (SELECT coalesce(max(seq), 0) FROM memory_audithead WHERE tenant_id = %(t)s)
"""


@dataclass(frozen=True, slots=True)
class Sized:
    """A tenant with its counts."""

    tenant: Tenant
    members: int
    agents: int
    memories: int
    live: int
    events: int


def tenants(q: str, page: int) -> tuple[list[Sized], int]:
    """One page of the tenants by name, and how many match."""
    rows = Tenant.objects.order_by("name", "slug")
    if q:
        rows = rows.filter(name__icontains=q) | rows.filter(slug__icontains=q)
    shown = rows[(page - 1) * PAGE : page * PAGE]
    return [Sized(tenant, *_sizes(tenant)) for tenant in shown], rows.count()


def _sizes(tenant: Tenant) -> tuple[int, ...]:
    """Counted inside the tenant's own context: no role of the database sees two tenants at once."""
    row = read_one(tenant.id, _SIZES.replace("%(t)s", "%s"), [tenant.id] * _SIZES.count("%(t)s"))
    assert row is not None  # a row of counts is always there
    return row

"""Which tenants a person belongs to, asked before any tenant is entered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from tenants.models import Tenant

# The definer function is the one place that may look across tenants; names come from the tenant table.
_BELONGS = """
SELECT t.id, t.slug, t.name, t.is_demo, m.role, t.time_zone, t.deletes_at
  FROM memgov.memberships_of(%s) m JOIN tenants_tenant t ON t.id = m.tenant_id
 WHERE t.status = 'active' ORDER BY lower(t.name), t.slug
"""


@dataclass(frozen=True, slots=True)
class Belonging:
    """One tenant of a person and the role there."""

    id: UUID
    slug: str
    name: str
    is_demo: bool
    role: str
    time_zone: str = "UTC"
    deletes_at: datetime | None = None

    @property
    def initial(self) -> str:
        return self.name[:1].upper()


def demo_is_loaded() -> bool:
    """Whether there is a demo to sign in to."""
    return Tenant.objects.filter(is_demo=True, status=Tenant.Status.ACTIVE).exists()


def tenants_of(user_id: UUID) -> list[Belonging]:
    """The active tenants of a person, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_BELONGS, [user_id])
        return [Belonging(*row) for row in cursor.fetchall()]


def tenant_of(tenant_id: UUID) -> Tenant:
    """The row of a tenant, which has to be there."""
    return Tenant.objects.get(id=tenant_id)

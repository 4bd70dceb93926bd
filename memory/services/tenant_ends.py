"""Tenants whose day has come: closed at once, and purged where the owner's role of the database is at hand."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import connections

from memgov import clock
from memory.domain.ids import show_id
from memory.services.tenant_purge import tenant_purge
from memory.services.tenant_settings import tenants_due
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Tenant, User
from tenants.principals import system

log = logging.getLogger(__name__)


def tenants_end(now: datetime | None = None) -> dict[str, str]:
    """Close every tenant that is due, then delete it with all its rows; what became of each, by slug.

    A process that only has the app's role (which may never delete from the audit) closes them and leaves the rest to
    `memgov tenant purge`.
    """
    ended: dict[str, str] = {}
    now = now or clock.now()
    for tenant in tenants_due(now):
        if not _closed(tenant, now):
            continue
        if can_purge():
            if tenant.is_demo:  # its people were made for it alone
                User.objects.filter(email__endswith=f"@{tenant.slug}.example").delete()
            tenant_purge(tenant)
            ended[tenant.slug] = "deleted"
        else:
            ended[tenant.slug] = "closed"
            log.warning("tenant %s is due for deletion: run `memgov tenant purge`", tenant.slug)
    return ended


def _closed(tenant: Tenant, now: datetime) -> bool:
    """Close it; False when it was called off since the list of those due was read."""
    with tenant_context(tenant.id):
        row = Tenant.objects.select_for_update().filter(id=tenant.id, deletes_at__lte=now).first()
        if row is None:
            return False
        if row.status != Tenant.Status.SUSPENDED:
            Tenant.objects.filter(id=row.id).update(status=Tenant.Status.SUSPENDED)
            event = audit.Event(
                "tenant.suspended", "tenant", show_id("ten", row.id), reason="its day has come"
            )
            audit.append(system(row.id, "tenant.ends"), [event], now)
    return True


def can_purge() -> bool:
    """Whether this process was given the owner's role."""
    mine, owner = (connections[alias].settings_dict["USER"] for alias in ("default", "owner"))
    return bool(owner) and owner != mine

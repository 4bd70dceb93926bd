"""Tenants whose day has come: closed at once, and purged where the owner's role of the database is at hand."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import connections

from memgov import clock
from memory.services.tenant_purge import tenant_purge
from memory.services.tenant_settings import tenants_due
from tenants.models import Tenant, User

log = logging.getLogger(__name__)


def tenants_end(now: datetime | None = None) -> dict[str, str]:
    """Close every tenant that is due, then delete it with all its rows; what became of each, by slug.

    A process that only has the app's role (which may never delete from the audit) closes them and leaves the rest to
    `memgov tenant purge`.
    """
    ended: dict[str, str] = {}
    for tenant in tenants_due(now or clock.now()):
        Tenant.objects.filter(id=tenant.id).update(status=Tenant.Status.SUSPENDED)
        if can_purge():
            tenant_purge(tenant)
            if tenant.is_demo:  # its people were made for it alone
                User.objects.filter(email__endswith=f"@{tenant.slug}.example").delete()
            ended[tenant.slug] = "deleted"
        else:
            ended[tenant.slug] = "closed"
            log.warning("tenant %s is due for deletion: run `memgov tenant purge`", tenant.slug)
    return ended


def can_purge() -> bool:
    """Whether this process was given the owner's role."""
    mine, owner = (connections[alias].settings_dict["USER"] for alias in ("default", "owner"))
    return bool(owner) and owner != mine

"""Writing policy versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from memgov.ids import new_id
from memory.models import PolicyVersion
from tenants.context import current_tenant_id


def lock() -> None:
    """Let one activation at a time through: they all hold the tenant's first version, which never goes."""
    PolicyVersion.objects.select_for_update().order_by("number").first()


def activate(
    document: dict[str, Any], changes: Sequence[str], reason: str, actor: str, now: datetime
) -> PolicyVersion:
    """Make the document the next version and the only active one.  Call under `lock`."""
    last = PolicyVersion.objects.aggregate(last=Max("number"))["last"] or 0
    PolicyVersion.objects.filter(active=True).update(active=False)
    version = PolicyVersion(
        tenant_id=current_tenant_id(), id=new_id(now), number=last + 1, document=document, active=True,
        reason=reason[:500], changes=list(changes), created_by=actor, created_at=now, activated_at=now,
    )  # fmt: skip
    PolicyVersion.objects.bulk_create([version])
    return version

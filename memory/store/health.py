"""Writing health snapshots: one row per tenant, scope and period, however often the period is measured."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memgov.ids import floor_id, new_id
from memory.models import HealthSnapshot
from tenants.context import current_tenant_id


def upsert(figures: Mapping[str, Mapping[str, float | None]], period: datetime) -> int:
    """Keep the figures of a period; those that it had already are replaced.  Returns how many rows."""
    tenant_id = current_tenant_id()
    rows = [
        HealthSnapshot(
            tenant_id=tenant_id, id=new_id(period), scope=scope, period=period, figures=dict(values)
        )
        for scope, values in sorted(figures.items())
    ]
    HealthSnapshot.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["tenant", "scope", "period"],
        update_fields=["figures"],
    )
    return len(rows)


def drop_before(end: datetime, most: int) -> int:
    """Delete at most `most` snapshots of older periods; with 0 only count them."""
    rows = HealthSnapshot.objects.filter(id__lt=floor_id(end), period__lt=end)
    if not most:
        return rows.count()
    ids = list(rows.order_by("id").values_list("id", flat=True)[:most])
    HealthSnapshot.objects.filter(id__in=ids).delete()
    return len(ids)

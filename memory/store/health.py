"""Writing health snapshots: one row per tenant, scope and period, however often the period is measured; and folding
the hours of old days into one row each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import groupby

from memgov.ids import floor_id, new_id
from memory.domain.health import Reading, fold
from memory.models import HealthSnapshot
from tenants.context import current_tenant_id

_HOUR, _DAY = HealthSnapshot.HOUR, HealthSnapshot.DAY


def upsert(figures: Mapping[str, Mapping[str, float | None]], period: datetime) -> int:
    """Keep the figures of an hour; those that it had already are replaced.  Returns how many rows."""
    readings = {scope: Reading(dict(values), {}) for scope, values in figures.items()}
    return _keep(readings, _HOUR, period)


def oldest_hour(before: datetime) -> datetime | None:
    """The period of the oldest hourly snapshot that is older than an instant."""
    rows = HealthSnapshot.objects.filter(span=_HOUR, period__lt=before)
    period: datetime | None = rows.order_by("period").values_list("period", flat=True).first()
    return period


def fold_day(day: datetime) -> int:
    """Make one row per scope of the hourly snapshots of a day (its midnight in UTC); how many hours went in.

    What the day had been folded to before is taken along, so that a late hour is not lost.
    """
    within = HealthSnapshot.objects.filter(period__gte=day, period__lt=day + timedelta(days=1))
    rows = list(within.select_for_update().order_by("scope", "period", "span"))
    hours = [row.id for row in rows if row.span == _HOUR]
    readings = {
        scope: fold([Reading(row.figures, row.spread, row.hours) for row in several])
        for scope, several in groupby(rows, key=lambda row: row.scope)
    }
    _keep(readings, _DAY, day)
    HealthSnapshot.objects.filter(id__in=hours).delete()
    return len(hours)


def _keep(readings: Mapping[str, Reading], span: str, period: datetime) -> int:
    tenant_id = current_tenant_id()
    rows = [
        HealthSnapshot(
            tenant_id=tenant_id, id=new_id(period), scope=scope, span=span, period=period,
            figures=one.figures, spread=one.spread, hours=one.hours,
        )
        for scope, one in sorted(readings.items())
    ]  # fmt: skip
    HealthSnapshot.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["tenant", "scope", "span", "period"],
        update_fields=["figures", "spread", "hours"],
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

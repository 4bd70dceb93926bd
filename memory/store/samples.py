"""Writing samples: drawn once per period, judged entry by entry."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memgov.ids import new_id
from memory.models import HealthSample, SampleItem
from tenants.context import current_tenant_id

_READABLE = """tenant_id = %(tenant)s AND status IN ('live', 'contested')
   AND (expires_at IS NULL OR expires_at > %(now)s)
   AND (valid_from IS NULL OR valid_from <= %(now)s) AND (valid_to IS NULL OR valid_to > %(now)s)"""
_COUNT = f"SELECT count(*) FROM memory_memory WHERE {_READABLE}"
# Sorted by a digest of period and id: random for who writes memories, the same for who looks twice.
_DRAW = f"""
SELECT id, version, scope FROM memory_memory WHERE {_READABLE}
 ORDER BY md5(%(period)s || id::text) LIMIT %(size)s
"""


def drawn(period: date) -> bool:
    """Whether the period has its sample."""
    return HealthSample.objects.filter(period=period).exists()


def draw(period: date, size: int, now: datetime) -> HealthSample | None:
    """Draw so many of the readable memories; None when there are none, or another was first."""
    tenant_id = current_tenant_id()
    values: dict[str, Any] = {"tenant": tenant_id, "now": now, "period": period.isoformat(), "size": size}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        (population,) = cursor.fetchone()
        cursor.execute(_DRAW, values)
        rows = cursor.fetchall()
    if not rows:
        return None
    sample = HealthSample(
        id=new_id(now),
        tenant_id=tenant_id,
        period=period,
        population=population,
        size=len(rows),
        drawn_at=now,
    )
    HealthSample.objects.bulk_create([sample], ignore_conflicts=True)
    if not HealthSample.objects.filter(id=sample.id).exists():
        return None
    SampleItem.objects.bulk_create(
        SampleItem(
            id=new_id(now), tenant_id=tenant_id, sample_id=sample.id, place=place, memory_id=memory_id,
            memory_version=version, scope=scope,
        )
        for place, (memory_id, version, scope) in enumerate(rows, 1)
    )  # fmt: skip
    return sample


def lock(item_id: UUID) -> SampleItem | None:
    """The entry, locked."""
    item: SampleItem | None = SampleItem.objects.select_for_update().filter(id=item_id).first()
    return item


def update(item: SampleItem, **fields: Any) -> None:
    """Change a locked entry; its version rises."""
    fields["version"] = item.version + 1
    SampleItem.objects.filter(id=item.id).update(**fields)
    for name, value in fields.items():
        setattr(item, name, value)

"""Which months the manifest tables have, and how many rows a tenant has in one."""

from __future__ import annotations

from datetime import date

from django.db import connection

from memgov.ids import floor_id
from memory.domain.months import following, start_of
from memory.models import Manifest

_MONTHS = """
SELECT to_date(right(c.relname, 6), 'YYYYMM')
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'memory_manifest'::regclass AND c.relname ~ '_m[0-9]{6}$'
 ORDER BY 1
"""


def months() -> list[date]:
    """Months that have a partition of their own, the oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS)
        return [row[0] for row in cursor.fetchall()]


def rows_in(month: date) -> int:
    """How many manifests the current tenant has in the month."""
    first, end = floor_id(start_of(month)), floor_id(start_of(following(month)))
    return Manifest.objects.filter(id__gte=first, id__lt=end).count()

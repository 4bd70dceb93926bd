"""Taking the text out of tombstones whose time is over: from the memory, its versions and the log of decisions.

The shell stays: id, scope, provenance, links and dates, so that manifests, audit and what was derived from it still
have something to point at.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memgov.ids import id_series
from memory.models import Memory
from tenants.context import current_tenant_id

PURGED: Final = "memory.purged"
# What a version keeps that somebody wrote.
_TEXTS: Final = (
    "subject",
    "predicate",
    "value",
    "content",
    "paths",
    "tags",
    "metadata",
    "pin_reason",
    "status_reason",
)
WITHOUT: Final = " - ".join(f"'{name}'" for name in _TEXTS)
_PURGE: Final = f"""
WITH doomed AS MATERIALIZED (
    SELECT m.id FROM memory_memory m
     WHERE m.tenant_id = %(tenant)s AND m.status = 'deleted' AND m.status_changed_at <= %(end)s
     ORDER BY m.id LIMIT %(most)s FOR UPDATE OF m SKIP LOCKED
),
numbered AS (SELECT d.id, row_number() OVER (ORDER BY d.id) AS place FROM doomed d),
purged AS (
    UPDATE memory_memory m
       SET status = 'erased', status_reason = %(reason)s, status_changed_at = %(now)s, version = m.version + 1,
           subject = '', predicate = '', claim = '', value = '', content = '', value_hash = sha256(m.id::text::bytea),
           paths = '{{}}', tags = '{{}}', metadata = '{{}}', findings = '[]', input_hash = '', pin_reason = ''
      FROM numbered d
     WHERE m.tenant_id = %(tenant)s AND m.id = d.id AND m.id = ANY(ARRAY(SELECT id FROM doomed))
    RETURNING m.id, m.version, m.scope, d.place
),
emptied AS (
    UPDATE memory_revision r SET state = r.state - {WITHOUT}, reason = ''
     WHERE r.tenant_id = %(tenant)s AND r.memory_id = ANY(ARRAY(SELECT id FROM doomed))
),
forgotten AS (
    UPDATE memory_writedecision w SET text = ''
     WHERE w.tenant_id = %(tenant)s AND w.memory_id = ANY(ARRAY(SELECT id FROM doomed))
),
revised AS (
    INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)
    SELECT %(tenant)s, (%(series)s || lpad(to_hex(%(start)s + p.place), 8, '0'))::uuid, p.id, p.version, %(now)s,
           %(event)s, %(actor)s, %(reason)s, jsonb_build_object('scope', p.scope, 'status', 'erased')
      FROM purged p
)
SELECT p.id, p.scope FROM purged p ORDER BY p.id
"""


def purge_deleted(
    end: datetime, most: int, *, actor: str, reason: str, now: datetime
) -> list[tuple[UUID, str]]:
    """Empty at most `most` tombstones that were deleted at `end` or before; (id, scope) of each."""
    series, start = id_series(now)
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(), "end": end, "most": most, "now": now, "event": PURGED, "actor": actor,
        "reason": reason, "series": series, "start": start,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_PURGE, parameters)
        return cursor.fetchall()


def count_deleted(end: datetime) -> int:
    """How many tombstones are due."""
    return Memory.objects.filter(status="deleted", status_changed_at__lte=end).count()

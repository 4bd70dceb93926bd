"""The traces a memory leaves: audit events about it, and the manifests that carried it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from memory.models import AuditEvent
from tenants.context import current_tenant_id


def events_of(targets: Sequence[str], limit: int = 20) -> list[AuditEvent]:
    """The last events about any of these ids (in their shown form)."""
    return list(AuditEvent.objects.filter(target_id__in=targets).order_by("-seq")[:limit])


_GIVEN = """
SELECT m.id, m.at, m.agent_name, m.session, e.rank, e.used_at IS NOT NULL, m.usage_reported_at IS NOT NULL, e.verdict,
       count(*) OVER ()
  FROM memory_manifestentry e
  JOIN memory_manifest m ON m.tenant_id = %(tenant)s AND m.id = e.manifest_id
 WHERE e.tenant_id = %(tenant)s AND e.memory_id = %(memory)s AND m.at > %(since)s
   AND e.manifest_id >= memgov.id_floor(%(since)s) AND m.id >= memgov.id_floor(%(since)s)
 ORDER BY e.manifest_id DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Given:
    """One manifest that contained a memory."""

    manifest_id: UUID
    at: datetime
    agent: str
    session: str
    rank: int
    used: bool | None
    """None while the agent has not reported."""
    verdict: str
    """What it reported of this entry: used, ignored, harmful, or nothing."""


def manifests_with(memory_id: UUID, since: datetime, limit: int = 10) -> tuple[list[Given], int]:
    """The last manifests that contained the memory, and how many there are after `since`."""
    with connection.cursor() as cursor:
        cursor.execute(
            _GIVEN, {"tenant": current_tenant_id(), "memory": memory_id, "since": since, "limit": limit}
        )
        rows = cursor.fetchall()
    given = [
        Given(manifest_id, at, agent, session, rank, used if reported else None, verdict)
        for manifest_id, at, agent, session, rank, used, reported, verdict, _total in rows
    ]
    return given, rows[0][8] if rows else 0

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
SELECT m.id, m.at, m.agent_name, m.session, e.rank, e.used_at IS NOT NULL, m.usage_reported_at IS NOT NULL,
       count(*) OVER ()
  FROM memory_manifestentry e
  JOIN memory_manifest m ON m.tenant_id = %(tenant)s AND m.id = e.manifest_id
 WHERE e.tenant_id = %(tenant)s AND e.memory_id = %(memory)s
 ORDER BY m.at DESC, m.id DESC LIMIT %(limit)s
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


def manifests_with(memory_id: UUID, limit: int = 10) -> tuple[list[Given], int]:
    """The last manifests that contained the memory, and how many there are."""
    with connection.cursor() as cursor:
        cursor.execute(_GIVEN, {"tenant": current_tenant_id(), "memory": memory_id, "limit": limit})
        rows = cursor.fetchall()
    given = [
        Given(manifest_id, at, agent, session, rank, used if reported else None)
        for manifest_id, at, agent, session, rank, used, reported, _total in rows
    ]
    return given, rows[0][7] if rows else 0

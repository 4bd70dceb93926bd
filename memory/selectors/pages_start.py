"""What the start page counts and lists, in few round trips."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from tenants.context import current_tenant_id

_BEGUN = """
SELECT EXISTS (SELECT FROM memory_memory WHERE tenant_id = %(tenant)s),
       EXISTS (SELECT FROM tenants_agent WHERE tenant_id = %(tenant)s),
       EXISTS (SELECT FROM tenants_agentkey WHERE tenant_id = %(tenant)s)
"""


@dataclass(frozen=True, slots=True)
class Begun:
    """How far a new tenant has come."""

    memories: bool
    agents: bool
    keys: bool


def begun() -> Begun:
    """One round trip."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGUN, {"tenant": current_tenant_id()})
        return Begun(*cursor.fetchone())


# Decisions of the three queues, with the text they were about.  `standing`: nothing has changed it since, as
# far as the decision's own row tells.
_DECISIONS = """
SELECT * FROM (
    (SELECT 'promotion', 'promotion', d.request_id, d.id, d.action, d.at, m.content,
            d.undone_at IS NULL AND r.version = d.request_version + 1
       FROM memory_promotiondecision d
       JOIN memory_promotionrequest r ON r.tenant_id = %(tenant)s AND r.id = d.request_id
       JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = r.memory_id
      WHERE d.tenant_id = %(tenant)s AND d.actor_id = %(actor)s AND d.at >= %(since)s
      ORDER BY d.at DESC LIMIT 8)
    UNION ALL
    (SELECT 'contradiction', 'contradiction', c.id, c.id, c.status, c.resolved_at, m.content, true
       FROM memory_contradiction c
       JOIN memory_memory m ON m.tenant_id = %(tenant)s
        AND m.id = CASE WHEN c.resolution = 'keep_b' THEN c.memory_b ELSE c.memory_a END
      WHERE c.tenant_id = %(tenant)s AND NOT c.status = 'open' AND c.undo ->> 'actor' = %(actor)s
        AND c.resolved_at >= %(since)s
      ORDER BY c.resolved_at DESC LIMIT 8)
    UNION ALL
    (SELECT 'quarantine', 'status', m.id, m.id, v.state ->> 'status', v.at, m.content, m.version = v.version
       FROM memory_revision v
       JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = v.memory_id
      WHERE v.tenant_id = %(tenant)s AND v.actor = %(name)s AND v.at >= %(since)s
        AND v.event IN ('memory.released', 'memory.discarded')
      ORDER BY v.at DESC LIMIT 8)
) d (queue, family, target, decision, action, at, value, standing) ORDER BY at DESC LIMIT 8
"""


@dataclass(frozen=True, slots=True)
class Done:
    """One decision of a person."""

    queue: str
    family: str
    target: UUID
    decision: UUID
    action: str
    at: datetime
    value: str
    standing: bool


def decisions_of(actor_id: str, actor_name: str, now: datetime, days: int = 7) -> list[Done]:
    """A person's own last decisions in all queues, newest first."""
    since = now - timedelta(days=days)
    with connection.cursor() as cursor:
        parameters: dict[str, Any] = {
            "tenant": current_tenant_id(),
            "actor": actor_id,
            "name": actor_name,
            "since": since,
        }
        cursor.execute(_DECISIONS, parameters)
        return [Done(*row) for row in cursor.fetchall()]

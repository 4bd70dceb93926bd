"""Agents with their keys, grants and what became of their writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q

from memory.domain.scopes import default_grants
from memory.models import Memory, WriteDecision
from tenants.context import current_tenant_id
from tenants.models import Agent, AgentKey, Grant

MOST = 200

_AGENTS = """
SELECT a.id, a.name, a.role, a.paused_at, k.active, k.last_used_at, w.written, w.rejected
  FROM tenants_agent a
  LEFT JOIN LATERAL (
       SELECT count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(now)s)) AS active,
              max(last_used_at) AS last_used_at
         FROM tenants_agentkey k WHERE k.tenant_id = %(tenant)s AND k.agent_id = a.id) k ON true
  LEFT JOIN LATERAL (
       SELECT count(*) AS written, count(*) FILTER (WHERE outcome = 'rejected') AS rejected
         FROM memory_writedecision d
        WHERE d.tenant_id = %(tenant)s AND d.agent_id = a.id AND d.at >= %(since)s) w ON true
 WHERE a.tenant_id = %(tenant)s AND (a.name ILIKE %(like)s OR a.role ILIKE %(like)s)
 ORDER BY a.name LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent of the list."""

    id: UUID
    name: str
    role: str
    paused_at: datetime | None
    keys_active: int
    last_seen_at: datetime | None
    written: int
    rejected: int


def agents(q: str, now: datetime) -> list[AgentRow]:
    """Agents by name, with their keys and their writes of 30 days."""
    escaped = q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(),
        "now": now,
        "since": now - timedelta(days=30),
        "like": f"%{escaped}%",
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(_AGENTS, parameters)
        return [AgentRow(*row) for row in cursor.fetchall()]


def agent(agent_id: UUID) -> Agent | None:
    """The agent."""
    row: Agent | None = Agent.objects.filter(id=agent_id).first()
    return row


def keys_of(agent_id: UUID) -> list[AgentKey]:
    """Its keys, newest first."""
    return list(AgentKey.objects.filter(agent_id=agent_id).order_by("-created_at", "-id"))


def key_of(agent_id: UUID, key_id: UUID) -> AgentKey | None:
    """One key of this agent."""
    row: AgentKey | None = AgentKey.objects.filter(agent_id=agent_id, id=key_id).first()
    return row


def grants_of(found: Agent) -> list[tuple[str, Sequence[str], bool]]:
    """Pattern, verbs, and whether it comes with the role: the defaults first."""
    rows = Grant.objects.filter(Q(agent_id=found.id) | Q(agent_role=found.role)).order_by("pattern")
    defaults = [
        (rule.pattern, [str(verb) for verb in rule.verbs], True) for rule in default_grants(found.role)
    ]
    return [*defaults, *((row.pattern, row.verbs, row.agent_id is None) for row in rows)]


def outcomes_of(agent_id: UUID, since: datetime) -> dict[str, int]:
    """How its writes ended, most frequent first."""
    rows = WriteDecision.objects.filter(agent_id=agent_id, at__gte=since).values_list("outcome")
    return dict(rows.annotate(n=Count("id")).order_by("-n", "outcome"))


def written_by(agent_id: UUID, limit: int = 8) -> list[Memory]:
    """What it wrote last."""
    return list(Memory.objects.filter(agent_id=agent_id).order_by("-id")[:limit])


def refused_of(agent_id: UUID, limit: int = 8) -> list[WriteDecision]:
    """Its writes that were refused last, with the reason; their text is not shown."""
    rows = WriteDecision.objects.filter(agent_id=agent_id, outcome="rejected")
    return list(rows.order_by("-at")[:limit])

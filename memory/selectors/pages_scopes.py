"""Scopes in use, how much lives in each, and everybody's grants: for the people who give and take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from tenants.context import current_tenant_id
from tenants.models import Agent, Grant

MOST_SCOPES = 100
MOST_AGENTS = 200
# Beyond these the effect of a grant is told by its largest scopes only, and the page says so.
MOST_WEIGHED = 5_000

_LIVING = """
SELECT s.name, s.kind, s.owner_agent_id, coalesce(m.live, 0)
  FROM memory_scoperecord s
  LEFT JOIN (SELECT scope, count(*) AS live FROM memory_memory
              WHERE tenant_id = %(tenant)s AND status IN ('live', 'contested') GROUP BY scope) m ON m.scope = s.name
 WHERE s.tenant_id = %(tenant)s AND (%(kind)s = '' OR s.kind = %(kind)s) AND s.name ILIKE %(like)s
   AND (%(pattern)s = '' OR %(pattern)s = '*' OR s.name = %(pattern)s OR s.kind || ':*' = %(pattern)s)
 ORDER BY 4 DESC, s.name LIMIT %(most)s
"""
_KINDS = """
SELECT s.kind, count(*), coalesce(sum(m.live), 0)::int
  FROM memory_scoperecord s
  LEFT JOIN (SELECT scope, count(*) AS live FROM memory_memory
              WHERE tenant_id = %(tenant)s AND status IN ('live', 'contested') GROUP BY scope) m ON m.scope = s.name
 WHERE s.tenant_id = %(tenant)s AND s.name ILIKE %(like)s GROUP BY s.kind
"""


@dataclass(frozen=True, slots=True)
class ScopeInUse:
    """A scope, whose it is if it is a session or task, and how many memories a reader would find in it."""

    name: str
    kind: str
    owner_agent_id: UUID | None
    live: int


def scopes_in_use(
    *, kind: str = "", q: str = "", pattern: str = "", most: int = MOST_SCOPES
) -> list[ScopeInUse]:
    """Scopes of a kind, by a part of their name or matched by a grant's pattern; the fullest first."""
    parameters = {"kind": kind, "pattern": pattern, "most": most}
    return [ScopeInUse(*row) for row in _rows(_LIVING, q, parameters)]


def counts_by_kind(q: str = "") -> dict[str, tuple[int, int]]:
    """Scopes and living memories of each kind."""
    return {kind: (scopes, live) for kind, scopes, live in _rows(_KINDS, q, {})}


def _rows(sql: str, q: str, parameters: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
    escaped = q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": current_tenant_id(), "like": f"%{escaped}%", **parameters})
        return list(cursor.fetchall())


def agents() -> list[Agent]:
    """All agents by name."""
    return list(Agent.objects.order_by("name")[:MOST_AGENTS])


def grants() -> list[Grant]:
    """Every grant of the tenant."""
    return list(Grant.objects.order_by("pattern", "agent_role", "agent_id"))


def agent(agent_id: UUID) -> Agent:
    """One agent, which has to be there."""
    row: Agent = Agent.objects.get(id=agent_id)
    return row


def grant(agent_id: UUID | None, role: str, pattern: str) -> Grant | None:
    """The grant of this holder on this pattern, if there is one."""
    row: Grant | None = Grant.objects.filter(agent_id=agent_id, agent_role=role, pattern=pattern).first()
    return row

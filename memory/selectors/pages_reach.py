"""Which agents read a scope, by name and by which right: for reviewers, not for retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from memory.domain.scopes import OWNED_KINDS, GrantRule, Scope, Verb, why
from memory.models import ScopeRecord
from tenants.context import current_tenant_id

_AGENTS = """
SELECT a.id, a.name, a.role,
       (SELECT coalesce(array_agg(g.pattern), '{}')
          FROM tenants_grant g
         WHERE g.tenant_id = %(tenant)s AND 'read' = ANY(g.verbs)
           AND (g.agent_id = a.id OR g.agent_role = a.role))
  FROM tenants_agent a WHERE a.tenant_id = %(tenant)s ORDER BY a.name
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that may read a scope, and the rule that lets it."""

    id: UUID
    name: str
    how: str


@dataclass(frozen=True, slots=True)
class AgentRights:
    """An agent with the patterns that it may read beside the defaults of its role."""

    id: UUID
    name: str
    role: str
    patterns: Sequence[str]


def agents_with_rights() -> list[AgentRights]:
    """Every agent of the tenant with its read grants; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_AGENTS, {"tenant": current_tenant_id()})
        return [AgentRights(*row) for row in cursor.fetchall()]


def readers_of(scope: Scope, agents: Sequence[AgentRights]) -> list[Reader]:
    """Those of the agents that read the scope; asks who owns it only for a session or task."""
    owner = None
    if scope.kind in OWNED_KINDS:
        owner = ScopeRecord.objects.filter(name=str(scope)).values_list("owner_agent_id", flat=True).first()
    found = []
    for agent in agents:
        rules = [GrantRule(pattern, frozenset({Verb.READ})) for pattern in agent.patterns]
        owned = [scope] if owner == agent.id else []
        reason = why(Verb.READ, scope, agent_role=agent.role, rules=rules, owned=owned)
        if reason:
            found.append(Reader(agent.id, agent.name, reason))
    return found

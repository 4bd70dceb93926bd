"""Which scopes a principal reads, as one SQL condition; the same for retrieval, lists and digests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memgov.postgres.arrays import array_text
from memory.domain.scopes import OWNED_KINDS, GrantRule, Scope, ScopePatterns, Verb, readable_patterns
from tenants.context import current_tenant_id
from tenants.principals import Principal

# Scopes in use that are granted, and the sessions and tasks that belong to the reading agent.
READABLE_SCOPES = """
SELECT s.name FROM memory_scoperecord s
 WHERE s.tenant_id = %(tenant)s
   AND (%(everything)s OR s.name = ANY(%(exact)s) OR s.kind = ANY(%(kinds)s)
        OR (s.owner_agent_id = %(agent)s AND (%(all_own)s OR s.name = ANY(%(own)s))))
   AND (%(only)s::text[] IS NULL OR s.name = ANY(%(only)s))
"""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a principal may read: grants as patterns, and which of its own sessions and tasks."""

    patterns: ScopePatterns
    agent_id: UUID | None
    own: tuple[str, ...]
    all_own: bool

    def parameters(self, only: Iterable[str] | None = None) -> dict[str, Any]:
        """The parameters of `READABLE_SCOPES`; `only` narrows to these scopes.

        As text, which a driver binds at once: to bind lists takes it longer than the database to use them.
        """
        return {
            "tenant": str(current_tenant_id()),
            "everything": self.patterns.everything,
            "exact": array_text(sorted(self.patterns.exact)),
            "kinds": array_text(sorted(map(str, self.patterns.kinds))),
            "agent": str(self.agent_id) if self.agent_id else None,
            "own": array_text(self.own),
            "all_own": self.all_own,
            "only": array_text(sorted(only)) if only is not None else None,
        }


def rules_of(principal: Principal) -> list[GrantRule]:
    """The principal's grants beside the defaults of its role."""
    return [
        GrantRule(pattern, frozenset(Verb(verb) for verb in verbs)) for pattern, verbs in principal.grants
    ]


def reach_of(
    principal: Principal, session: str = "", task: str = "", *, all_own: bool = False, verb: Verb = Verb.READ
) -> Reach:
    """An agent's reach in a session and task (`all_own`: in any of its own); a member reads everything."""
    if principal.kind != "agent":
        return Reach(ScopePatterns(frozenset(), frozenset(), True), None, (), False)
    own = tuple(f"{kind}:{key}" for kind, key in (("session", session), ("task", task)) if key)
    patterns = readable_patterns(principal.role, rules_of(principal), verb=verb)
    return Reach(patterns, principal.agent_id, own, all_own)


def is_owned_kind(scope: Scope) -> bool:
    """Whether the scope belongs to one agent (a session or a task)."""
    return scope.kind in OWNED_KINDS

"""Who may do what where, and why; what a grant would change before it is given; giving and taking it.

The answers come from the same rules that reads and writes ask (`memory.domain.scopes`), not from a second opinion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.domain.scopes import (
    OWNED_KINDS,
    GrantRule,
    Scope,
    Verb,
    default_grants,
    may,
    parse_scope,
    readable_patterns,
    specificity,
    why,
)
from memory.models import ScopeRecord
from memory.selectors.pages_scopes import MOST_WEIGHED, ScopeInUse, scopes_in_use
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, NotFound
from memory.services.tenancy import grant_set
from tenants.context import tenant_context
from tenants.models import Agent, Grant
from tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a grant: one agent, or every agent of a role, those of later days included."""

    agent: Agent | None = None
    role: str = ""

    @property
    def name(self) -> str:
        return self.agent.name if self.agent else self.role


@dataclass(frozen=True, slots=True)
class Explained:
    """Whether an agent may, by which rule, and whose grant that is (None: a default, or nothing)."""

    allowed: bool
    rule: str
    grant: Grant | None = None
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What one agent gains or loses in scopes that are in use."""

    agent: Agent
    verb: Verb
    scopes: tuple[ScopeInUse, ...]

    @property
    def memories(self) -> int:
        return sum(scope.live for scope in self.scopes)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a grant would change.  `seal` stands for the state it was computed from; `cut` says that only the fullest
    scopes were weighed."""

    before: frozenset[Verb]
    gains: tuple[Change, ...]
    losses: tuple[Change, ...]
    agents: int
    seal: str
    cut: bool = field(default=False)


def access_explain(actor: Principal, agent_id: UUID, verb: Verb, scope: Scope) -> Explained:
    """Whether the agent may, and why.  Raises `NotFound` for an agent that is not there."""
    with tenant_context(actor.tenant_id):
        agent = Agent.objects.filter(id=agent_id).first()
        if agent is None:
            raise NotFound("there is no such agent")
        held = _held_by(agent)
        owner = None
        if scope.kind in OWNED_KINDS:
            owner = (
                ScopeRecord.objects.filter(name=str(scope)).values_list("owner_agent_id", flat=True).first()
            )
    owned = [scope] if owner == agent.id else []
    rule = why(verb, scope, agent_role=agent.role, rules=[_rule(grant) for grant in held], owned=owned)
    if rule is None:
        return Explained(False, "", needs=f"{scope}={verb[0]}")
    by_default = why(verb, scope, agent_role=agent.role, rules=(), owned=owned) is not None
    deciding = None if by_default else _deciding(held, verb, scope)
    return Explained(True, rule, deciding)


def _deciding(held: Iterable[Grant], verb: Verb, scope: Scope) -> Grant | None:
    """The most specific of the grants that allow it."""
    allowing = [grant for grant in held if may(verb, scope, agent_role="", rules=[_rule(grant)], owned=())]
    return max(allowing, key=lambda grant: specificity(grant.pattern), default=None)


def grant_effect(actor: Principal, holder: Holder, rule: GrantRule) -> Effect:
    """What giving the holder exactly these verbs on the pattern would change; no verbs takes the grant away."""
    with tenant_context(actor.tenant_id):
        return _effect(holder, rule)


@denials_audited
def grant_change(actor: Principal, holder: Holder, rule: GrantRule, seal: str) -> Effect:
    """Give or take the grant, if what it does is still what was shown (`seal`); else `Conflict`."""
    require_role(actor, ADMINS, "give and take grants")
    with tenant_context(actor.tenant_id):
        # Whoever changes grants of the same holder at the same time waits here.
        list(Agent.objects.select_for_update().filter(**_whose(holder)).order_by("id"))
        effect = _effect(holder, rule)
        if effect.seal != seal:
            raise Conflict(
                "what this grant does has changed since you looked; nothing was saved", code="effect_changed"
            )
        if effect.before != rule.verbs:
            grant_set(actor, rule, agent=holder.agent, agent_role=holder.role)
    return effect


def _whose(holder: Holder) -> dict[str, object]:
    return {"id": holder.agent.id} if holder.agent else {"role": holder.role}


def _effect(holder: Holder, rule: GrantRule) -> Effect:
    agents = list(Agent.objects.filter(**_whose(holder)).order_by("name"))
    agent_id = holder.agent.id if holder.agent else None
    old = Grant.objects.filter(agent_id=agent_id, agent_role=holder.role, pattern=rule.pattern).first()
    before = frozenset(Verb(verb) for verb in old.verbs) if old else frozenset()
    scopes = scopes_in_use(pattern=rule.pattern, most=MOST_WEIGHED + 1)
    gains: list[Change] = []
    losses: list[Change] = []
    for agent in agents:
        held = [_rule(grant) for grant in _held_by(agent) if old is None or grant.id != old.id]
        for verb in Verb:
            if (verb in before) == (verb in rule.verbs):
                continue
            moved = _not_covered(agent, held, verb, scopes[:MOST_WEIGHED])
            if moved:
                (gains if verb in rule.verbs else losses).append(Change(agent, verb, moved))
    return Effect(
        before, tuple(gains), tuple(losses), len(agents),
        seal=_seal(before, agents, (*gains, *losses)), cut=len(scopes) > MOST_WEIGHED,
    )  # fmt: skip


def _not_covered(
    agent: Agent, held: Sequence[GrantRule], verb: Verb, scopes: Sequence[ScopeInUse]
) -> tuple[ScopeInUse, ...]:
    """The scopes that no other rule of the agent covers: what this grant alone decides."""
    covered = readable_patterns(agent.role, held, verb=verb)
    return tuple(
        scope
        for scope in scopes
        if not covered.covers(parse_scope(scope.name)) and scope.owner_agent_id != agent.id
    )


def _seal(before: frozenset[Verb], agents: Sequence[Agent], changes: Sequence[Change]) -> str:
    """A digest of who is concerned and which scopes open or close; how full they are may move meanwhile."""
    parts = [",".join(sorted(before)), *(agent.id.hex for agent in agents)]
    parts += [
        f"{one.agent.id.hex} {one.verb} {' '.join(sorted(scope.name for scope in one.scopes))}"
        for one in changes
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _held_by(agent: Agent) -> list[Grant]:
    own = Grant.objects.filter(agent_id=agent.id)
    return list((own | Grant.objects.filter(agent_role=agent.role)).order_by("pattern"))


def _rule(grant: Grant) -> GrantRule:
    return GrantRule(grant.pattern, frozenset(Verb(verb) for verb in grant.verbs))


def defaults_of(agent_role: str) -> list[GrantRule]:
    """What agents of the role have without any grant, beside their own sessions and tasks."""
    return list(default_grants(agent_role))

"""Where a case is lived: throw-away tenants with agents and a reviewer, a clock of its own, and the door to the API."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from memgov import clock
from memgov.ids import new_id
from memory.api.direct import Answer, Call, call_rest, problem_answer
from memory.api.problems import Problem
from memory.domain.policy import Policy
from memory.domain.scopes import parse_grant
from memory.services import tenancy
from memory.services.tenant_purge import tenant_purge
from memory.testing.document import AgentDocument
from tenants.authentication import KeyRefused, authenticate_key
from tenants.models import Agent, Role, Tenant
from tenants.principals import Principal, system

T = TypeVar("T")

STEP = timedelta(seconds=1)
"""What a step takes: things that happen one after another have to be told apart."""
TENANT_NAME = "Memory test (throw-away)"
_SLUG = re.compile(r"check-[0-9a-f]{16}")
_LEFT_BEHIND = timedelta(days=1)


def clear_leftovers() -> int:
    """Remove throw-away tenants that a killed run left behind more than a day ago; how many."""
    before = clock.now() - _LEFT_BEHIND
    found = Tenant.objects.filter(name=TENANT_NAME, slug__startswith="check-", created_at__lt=before)
    left = [tenant for tenant in found if _SLUG.fullmatch(tenant.slug)]
    for tenant in left:
        tenant_purge(tenant)
    return len(left)


@dataclass(frozen=True, slots=True)
class Actor:
    """An agent of the case with its key."""

    tenant: Tenant
    agent: Agent
    key: str


@dataclass(slots=True)
class World:
    """Use as a context manager: what it makes is gone afterwards, unless `keep`."""

    agents: Mapping[str, AgentDocument]
    policy: Policy = field(default_factory=Policy)
    keep: bool = False
    now: datetime = field(default_factory=clock.now)
    tenants: dict[str, Tenant] = field(default_factory=dict)
    actors: dict[str, Actor] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    """What labels stand for: ids as the API shows them."""

    def __enter__(self) -> World:
        try:
            for name, agent in self.agents.items():
                self.actors[name] = self._actor(name, agent)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if not self.keep:
            for tenant in self.tenants.values():
                tenant_purge(tenant)

    def _actor(self, name: str, said: AgentDocument) -> Actor:
        tenant = self.tenant(said.tenant)
        actor = system(tenant.id, "check")
        agent = tenancy.agent_create(actor, name, said.role, [parse_grant(grant) for grant in said.grants])
        key = tenancy.key_create(actor, agent, name="check", trust_ceiling=said.trust_ceiling)
        return Actor(tenant, agent, key.text)

    def tenant(self, label: str = "main") -> Tenant:
        """The throw-away tenant of this name, made when it is first asked for."""
        if label not in self.tenants:
            slug = f"check-{secrets.token_hex(8)}"
            self.tenants[label] = tenancy.tenant_create(slug, TENANT_NAME, policy=self.policy)
        return self.tenants[label]

    def advance(self, span: timedelta) -> None:
        """Let time pass."""
        self.now += span

    def at_present(self, work: Callable[[], T]) -> T:
        """Run it at the case's own present."""
        with clock.moved_to(self.now):
            return work()

    def call(self, agent: str | None, call: Call) -> Answer:
        """A call of the API by an agent, at the case's present; what a closed key gets is a 401 as at the door."""
        self.now += STEP
        return self.at_present(lambda: self._called(self.actor(agent), call))

    def actor(self, name: str | None) -> Actor:
        """The agent of this name; the first one without a name."""
        return self.actors[name or next(iter(self.actors))]

    def _called(self, actor: Actor, call: Call) -> Answer:
        request_id = f"req_{new_id().hex}"
        try:
            principal = authenticate_key(actor.key, request_id)
        except KeyRefused as refused:
            return problem_answer(Problem(401, refused.code, refused.detail), request_id)
        return call_rest(principal, call, request_id)

    def reviewer(self, tenant: Tenant) -> Principal:
        """A person who may decide in the tenant."""
        return Principal(
            tenant_id=tenant.id, kind="member", id=f"usr_{UUID(int=0).hex}", name="reviewer", role=Role.OWNER
        )

    def id_of(self, label: str) -> str:
        """The id behind a label; one that no step made leads nowhere, as an id of nothing does."""
        return self.ids.get(label, label)

    def labelled(self, shown: str) -> str:
        """The label of an id, or the id itself."""
        return next((label for label, one in self.ids.items() if one == shown), shown)

    def named(self, ids: list[str]) -> list[str]:
        """Labels of ids."""
        return [self.labelled(one) for one in ids]


def shown_uuid(shown: str) -> UUID:
    """The UUID in an id as the API shows it."""
    return UUID(hex=shown.partition("_")[2])


Values = Mapping[str, Any]

"""What tests start from: a fresh tenant with its people, agents and keys, made as the product makes them.

Every test makes its own stage; nothing here inserts a finished row, so a stage cannot hold what the product
could not have made.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.contrib.auth.hashers import make_password

from memory.domain.policy import Policy
from memory.domain.scopes import parse_grant
from memory.services import tenancy
from tenants.authentication import authenticate_key
from tenants.context import tenant_context
from tenants.models import Agent, AgentKey, Membership, Tenant, User
from tenants.principals import Principal, system

PASSWORD = "a long enough pass phrase"


@dataclass(frozen=True, slots=True)
class Person:
    """A member who can sign in with `PASSWORD`."""

    user: User
    membership: Membership
    principal: Principal


@dataclass(frozen=True, slots=True)
class Machine:
    """An agent with one key."""

    agent: Agent
    key: AgentKey
    key_text: str
    principal: Principal

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its requests."""
        return {"Authorization": f"Bearer {self.key_text}"}


@dataclass(frozen=True, slots=True)
class Stage:
    """A tenant with an owner, a reviewer, an orchestrator agent and a coder agent.

    The coder reads, writes and proposes in `project:alpha` and `user:*`; beyond that it has the defaults of
    its role (its own sessions, tasks and `agent:coder`, reading `shared` and `global`).  The orchestrator
    has every right on every scope.
    """

    tenant: Tenant
    owner: Person
    reviewer: Person
    orchestrator: Machine
    coder: Machine

    def context(self) -> AbstractContextManager[None]:
        """The tenant context, to look at rows."""
        return tenant_context(self.tenant.id)


def make_tenant(*, policy: Policy | None = None, name: str = "Test tenant") -> Stage:
    """A fresh tenant under a random slug, with its people and agents."""
    tenant = tenancy.tenant_create(f"t-{secrets.token_hex(6)}", name, policy=policy)
    return Stage(
        tenant=tenant,
        owner=make_person(tenant, "owner"),
        reviewer=make_person(tenant, "reviewer"),
        orchestrator=make_agent(tenant, "orchestrator", ["*=rwp"]),
        coder=make_agent(tenant, "coder", ["project:alpha=rwp", "user:*=rwp"]),
    )


def make_person(tenant: Tenant, role: str, *, name: str = "") -> Person:
    """A person with this role in the tenant."""
    user = User.objects.create_user(f"{role}-{secrets.token_hex(6)}@example.test", name=name or role.title())
    user.password = _hashed_password()
    user.save(update_fields=["password"])
    return join(tenant, user, role)


def join(tenant: Tenant, user: User, role: str) -> Person:
    """Make a person that exists a member of (another) tenant."""
    membership = tenancy.member_add(system(tenant.id, "test.stage"), user, role)
    principal = Principal(
        tenant_id=tenant.id, kind="member", id=f"usr_{user.id.hex}", name=str(user), role=membership.role
    )
    return Person(user, membership, principal)


def make_agent(
    tenant: Tenant,
    role: str,
    grants: Sequence[str] = (),
    *,
    name: str = "",
    trust_ceiling: float = 1.0,
    expires_at: datetime | None = None,
) -> Machine:
    """An agent of this role with grants as the command line writes them (`project:alpha=rw`), and a key."""
    actor = system(tenant.id, "test.stage")
    agent = tenancy.agent_create(
        actor, name or f"{role}-{secrets.token_hex(3)}", role, [parse_grant(text) for text in grants]
    )
    new = tenancy.key_create(actor, agent, name="test", trust_ceiling=trust_ceiling, expires_at=expires_at)
    return Machine(agent, new.key, new.text, authenticate_key(new.text))


@lru_cache(maxsize=1)
def _hashed_password() -> str:
    """Hashed once: the hasher is slow on purpose."""
    return make_password(PASSWORD)

"""Tenants, members, agents, keys and grants: made and changed with an audit event each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.scopes import GrantRule
from memory.models import PolicyVersion
from memory.services.access import reason_fits
from memory.services.errors import Conflict, Invalid, NotFound
from memory.store import audit
from tenants import keys
from tenants.context import tenant_context
from tenants.models import Agent, AgentKey, Grant, Membership, Role, Tenant, User, new_handle
from tenants.principals import Principal, system

_AGENT_ROLE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,49}")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the only moment when its secret is known."""

    key: AgentKey
    text: str


def tenant_create(
    slug: str, name: str = "", *, policy: Policy | None = None, is_demo: bool = False
) -> Tenant:
    """A new tenant with its first policy version.  Raises `Conflict` when the slug is taken."""
    if slugify(slug) != slug or not slug:
        raise Invalid(f"{slug!r} cannot be part of an address: use a-z, 0-9 and hyphens", field="slug")
    now = clock.now()
    try:
        with transaction.atomic():
            tenant = Tenant.objects.create(
                slug=slug, name=name or slug.title(), is_demo=is_demo, created_at=now
            )
    except IntegrityError:
        raise Conflict(f"a tenant {slug!r} exists already", code="tenant_exists") from None
    actor = system(tenant.id, "tenant.create")
    with tenant_context(tenant.id):
        PolicyVersion(
            number=1,
            document=(policy or Policy()).model_dump(mode="json"),
            active=True,
            reason="first version",
            created_by=actor.name,
            created_at=now,
            activated_at=now,
        ).save()
        audit.append(
            actor, [audit.Event("tenant.created", "tenant", str(tenant.id), after={"slug": slug})], now
        )
    return tenant


def member_add(actor: Principal, user: User, role: str) -> Membership:
    """Make a person a member of the actor's tenant, or change the role of one who is."""
    now = clock.now()
    role = Role(role).value
    with tenant_context(actor.tenant_id):
        member = Membership.objects.select_for_update().filter(user_id=user.id).first()
        before = {"role": member.role} if member else None
        member = member or Membership(user_id=user.id, email=user.email, name=user.name, created_at=now)
        member.role = role
        member.save()
        action = "member.role_changed" if before else "member.added"
        event = audit.Event(action, "member", show_id("mbr", member.id), before=before, after={"role": role})
        audit.append(actor, [event], now)
    return member


def agent_create(
    actor: Principal, name: str, role: str, grants: Sequence[GrantRule] = (), *, description: str = ""
) -> Agent:
    """Register an agent with grants of its own."""
    name = name.strip()
    if not name or len(name) > 100:
        raise Invalid("give the agent a name of 1 to 100 characters", field="name")
    if not _AGENT_ROLE.fullmatch(role):
        raise Invalid("an agent role is a-z, 0-9, '_', '.' and '-', at most 50 letters", field="role")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        if Agent.objects.filter(name=name).exists():
            raise Conflict(f"an agent named {name!r} exists already", code="agent_exists", field="name")
        agent = Agent(name=name, role=role, description=description, created_at=now)
        agent.save()
        events = [_agent_event("agent.created", agent, after={"name": name, "role": role})]
        for rule in grants:
            _grant(actor, rule, now, agent=agent)
            after = {"pattern": rule.pattern, "verbs": sorted(rule.verbs)}
            events.append(_agent_event("grant.added", agent, after=after))
        audit.append(actor, events, now)
    return agent


def agent_pause(actor: Principal, agent: Agent, paused: bool, reason: str = "") -> Agent:
    """Stop an agent's keys from working, or let them work again."""
    now = clock.now()
    with tenant_context(actor.tenant_id):
        Agent.objects.filter(id=agent.id).update(paused_at=now if paused else None)
        agent.paused_at = now if paused else None
        action = "agent.paused" if paused else "agent.resumed"
        audit.append(actor, [_agent_event(action, agent, reason=reason)], now)
    return agent


def key_create(
    actor: Principal,
    agent: Agent,
    *,
    name: str = "",
    trust_ceiling: float = 1.0,
    expires_at: datetime | None = None,
    networks: Sequence[str] = (),
) -> NewKey:
    """A new key of the agent, for use from these networks (none: from anywhere).

    Its text is returned here and nowhere else, ever.
    """
    if not 0 <= trust_ceiling <= 1:
        raise Invalid("a trust ceiling lies between 0 and 1", field="trust_ceiling")
    now = clock.now()
    if expires_at is not None and expires_at <= now:
        raise Invalid("the expiry lies in the past", field="expires_at")
    secret = keys.new_secret()
    handle = Tenant.objects.get(id=actor.tenant_id).handle
    with tenant_context(actor.tenant_id):
        key = AgentKey(
            agent_id=agent.id,
            name=name,
            prefix=new_handle(),
            secret_hash=keys.hash_secret(secret),
            trust_ceiling=trust_ceiling,
            networks=list(networks),
            expires_at=expires_at,
            created_by=actor.name,
            created_at=now,
        )
        key.save()
        after = {"agent": agent.name, "prefix": key.prefix, "trust_ceiling": trust_ceiling}
        if networks:
            after["networks"] = list(networks)
        audit.append(actor, [audit.Event("key.revealed", "key", show_id("key", key.id), after=after)], now)
    return NewKey(key, keys.compose(handle, key.prefix, secret))


def key_revoke(actor: Principal, key: AgentKey, reason: str = "") -> AgentKey:
    """End a key for good.  Ending an ended key changes nothing."""
    reason_fits(reason)
    now = clock.now()
    with tenant_context(actor.tenant_id):
        if AgentKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=now):
            event = audit.Event("key.revoked", "key", show_id("key", key.id), reason=reason)
            audit.append(actor, [event], now)
        key.revoked_at = key.revoked_at or now
    return key


def key_rotate(actor: Principal, key: AgentKey, overlap_until: datetime) -> NewKey:
    """A successor with the same ceiling, networks and length of life; the old key works until ``overlap_until``."""
    now = clock.now()
    with tenant_context(actor.tenant_id):
        row = AgentKey.objects.select_for_update().filter(id=key.id).first()
        agent = Agent.objects.filter(id=row.agent_id).first() if row else None
        if row is None or agent is None:
            raise NotFound("the key's agent is gone")
        key = row  # as it is now: it may have been ended or narrowed since the page read it
        if key.revoked_at is not None:
            raise Conflict("a revoked key cannot be rotated; make a new one", code="key_revoked")
        life = key.expires_at - key.created_at if key.expires_at else None
        new = key_create(
            actor, agent, name=key.name, trust_ceiling=key.trust_ceiling, networks=key.networks,
            expires_at=now + life if life else None,
        )  # fmt: skip
        end = min(overlap_until, key.expires_at) if key.expires_at else overlap_until
        AgentKey.objects.filter(id=key.id).update(expires_at=end)
        after = {"expires_at": end.isoformat(), "successor": new.key.prefix}
        audit.append(actor, [audit.Event("key.rotated", "key", show_id("key", key.id), after=after)], now)
    return new


def key_networks_set(actor: Principal, key: AgentKey, networks: Sequence[str]) -> None:
    """From where the key may be used, from its next call on."""
    now, wanted = clock.now(), list(networks)
    with tenant_context(actor.tenant_id):
        before = AgentKey.objects.select_for_update().get(id=key.id).networks
        if before == wanted:
            return
        AgentKey.objects.filter(id=key.id).update(networks=wanted)
        event = audit.Event(
            "key.networks_changed", "key", show_id("key", key.id),
            before={"networks": before}, after={"networks": wanted},
        )  # fmt: skip
        audit.append(actor, [event], now)


def grant_set(actor: Principal, rule: GrantRule, *, agent: Agent | None = None, agent_role: str = "") -> None:
    """Give an agent or an agent role these verbs on the pattern; no verbs takes the grant away."""
    now = clock.now()
    with tenant_context(actor.tenant_id):
        verbs = _grant(actor, rule, now, agent=agent, agent_role=agent_role)
        target = show_id("agt", agent.id) if agent else agent_role
        kind = "agent" if agent else "agent_role"
        before = {"pattern": rule.pattern, "verbs": verbs} if verbs else None
        after = {"pattern": rule.pattern, "verbs": sorted(rule.verbs)}
        action = "grant.added" if rule.verbs else "grant.removed"
        audit.append(actor, [audit.Event(action, kind, target, before=before, after=after)], now)


def _grant(
    actor: Principal, rule: GrantRule, now: datetime, *, agent: Agent | None = None, agent_role: str = ""
) -> list[str]:
    """Put the grant in place of the one before, whose verbs are returned."""
    agent_id = agent.id if agent else None
    rows = Grant.objects.filter(agent_id=agent_id, agent_role=agent_role, pattern=rule.pattern)
    before = [verb for row in rows for verb in row.verbs]
    rows.delete()
    if rule.verbs:
        Grant(
            agent_id=agent_id,
            agent_role=agent_role,
            pattern=rule.pattern,
            verbs=sorted(rule.verbs),
            created_by=actor.name,
            created_at=now,
        ).save()
    return before


def _agent_event(action: str, agent: Agent, **more: object) -> audit.Event:
    return audit.Event(action, "agent", show_id("agt", agent.id), **more)  # type: ignore[arg-type]

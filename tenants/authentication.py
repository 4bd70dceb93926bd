"""From a presented agent key to a principal, in one round trip.

What every call asks next may come along: an SQL expression over the key's row `k`, whose value the principal carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from memgov import clock
from memgov.postgres.prepared import Prepared, named_after
from tenants import keys
from tenants.context import read_one, tenant_context
from tenants.models import AgentKey, Tenant
from tenants.principals import Principal

# How exact "last used" is; once a minute keeps reads free of a write each.
_LAST_USED_STEP = timedelta(minutes=1)

_FIND = """
       k.id, k.secret_hash, k.trust_ceiling, k.expires_at, k.revoked_at, k.last_used_at,
       a.id, a.name, a.role, a.paused_at, k.networks,
       (SELECT coalesce(array_agg(g.pattern || ' ' || array_to_string(g.verbs, ',') ORDER BY g.pattern, g.verbs), '{}')
          FROM tenants_grant g
         WHERE g.tenant_id = k.tenant_id AND (g.agent_id = a.id OR g.agent_role = a.role))
  FROM tenants_agentkey k
  JOIN tenants_agent a ON a.tenant_id = k.tenant_id AND a.id = k.agent_id
  JOIN tenants_tenant t ON t.id = k.tenant_id AND t.status = 'active'
 WHERE k.tenant_id = $1 AND """
_BY_ID = Prepared("key_by_id", f"SELECT NULL, {_FIND} k.id = $2")


_HANDLES_KEPT = 4096
_handles: dict[str, UUID] = {}


class KeyRefused(Exception):
    """The key does not open anything; ``code`` says why as far as its holder may know."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Presented:
    """A key that opens something: whose it is, and the look-up that said so."""

    principal: Principal
    lookup: Prepared
    values: Sequence[Any]
    row: tuple[Any, ...]
    """What the look-up said; `LAST_USED` is the only place in it that a use of the key changes."""


LAST_USED: Final = 6


def authenticate_key(
    text: str, request_id: str = "", now: datetime | None = None, *, along: str = "NULL"
) -> Principal:
    """The agent that holds this key.  Raises `KeyRefused`; unknown and wrong keys look the same.

    `along` is SQL of ours, never of a caller.
    """
    return presented(text, request_id, now or clock.now(), along=along).principal


def presented(text: str, request_id: str, now: datetime, *, along: str = "NULL") -> Presented:
    """As `authenticate_key`, with the look-up."""
    parts = keys.parse(text)
    tenant_id = _tenant_by_handle(parts.handle) if parts else None
    if parts is None or tenant_id is None:
        keys.matches(parts.secret if parts else text, None)
        raise _unknown()
    lookup, values = _by_prefix(along), [tenant_id, parts.prefix]
    row = read_one(tenant_id, *lookup(values))
    if not keys.matches(parts.secret, bytes(row[2]) if row else None):
        _handles.pop(parts.handle, None)
        raise _unknown()
    assert row is not None  # or it would not have matched
    principal = _principal(tenant_id, row, request_id, now)
    if use_is_due(row, now):
        with tenant_context(tenant_id):
            AgentKey.objects.filter(id=row[1]).update(last_used_at=now)
        row = (*row[:LAST_USED], now, *row[LAST_USED + 1 :])
    return Presented(principal, lookup, values, row)


def use_is_due(row: tuple[Any, ...], now: datetime) -> bool:
    """Whether the use of a key is to be noted again."""
    return row[LAST_USED] is None or now - row[LAST_USED] > _LAST_USED_STEP


@cache
def _by_prefix(along: str) -> Prepared:
    """The look-up of a key by its prefix, with what comes along."""
    return named_after(f"SELECT {along}, {_FIND} k.prefix = $2", "key_by_prefix")


def principal_of_key(tenant_id: UUID, key_id: UUID, now: datetime | None = None) -> Principal:
    """The agent of a key that was presented before, for work that goes on without its caller.

    Raises `KeyRefused` when the key has been closed since: what it may do is what it may do now.
    """
    row = read_one(tenant_id, *_BY_ID([tenant_id, key_id]))
    if row is None:
        raise _unknown()
    return _principal(tenant_id, row, "", now or clock.now())


def _principal(tenant_id: UUID, row: tuple[Any, ...], request_id: str, now: datetime) -> Principal:
    """The principal of a row of `_FIND`, unless its key or agent is closed."""
    along, key_id, _, ceiling, _, _, _, agent_id, name, role, _, networks, grants = row
    refuse_closed(row, now)
    return Principal(
        tenant_id=tenant_id,
        kind="agent",
        id=f"agt_{agent_id.hex}",
        name=name,
        role=role,
        agent_id=agent_id,
        key_id=key_id,
        trust_ceiling=ceiling,
        networks=tuple(networks),
        grants=tuple(_grant(line) for line in grants),
        request_id=request_id,
        along=along,
    )


def refuse_closed(row: tuple[Any, ...], now: datetime) -> None:
    """Raise `KeyRefused` when the key of a row of `_FIND` is revoked or over, or its agent paused."""
    _, _, _, _, expires_at, revoked_at, _, _, _, _, paused_at, *_ = row
    if revoked_at is not None:
        raise KeyRefused(
            "key_revoked", "This agent key was revoked. Ask an admin of the tenant for a new one."
        )
    if expires_at is not None and expires_at <= now:
        raise KeyRefused(
            "key_expired", "This agent key has expired. Ask an admin of the tenant for a new one."
        )
    if paused_at is not None:
        raise KeyRefused("agent_paused", "This agent is paused. An admin of the tenant can resume it.")


def _unknown() -> KeyRefused:
    return KeyRefused("key_unknown", "The agent key is not known. Check that it was copied whole (mgk_…).")


def _grant(line: str) -> tuple[str, tuple[str, ...]]:
    pattern, verbs = line.rsplit(" ", 1)
    return pattern, tuple(verbs.split(","))


def _tenant_by_handle(handle: str) -> UUID | None:
    """The tenant of a handle, which is for ever; whether it is active, the look-up of its key asks."""
    tenant_id = _handles.get(handle)
    if tenant_id is None:
        tenant_id = Tenant.objects.filter(handle=handle).values_list("id", flat=True).first()
        if tenant_id is not None:
            if len(_handles) >= _HANDLES_KEPT:
                _handles.clear()
            _handles[handle] = tenant_id
    return tenant_id

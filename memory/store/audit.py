"""Appending to a tenant's audit chain, in the transaction of the change that is audited."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection
from psycopg.types.json import Jsonb

from memgov.ids import new_id
from memory.domain import audit_chain
from tenants.context import before_commit, current_tenant_id
from tenants.principals import Principal

# Texts never enter the chain in readable form: these fields are replaced by a keyed digest.
_TEXT_FIELDS = frozenset({"content", "value", "subject", "query"})

_LOCK_HEAD = """
INSERT INTO memory_audithead AS h (tenant_id, id, seq, hash) VALUES (%s, %s, 0, %s)
ON CONFLICT (tenant_id) DO UPDATE SET seq = h.seq RETURNING seq, hash
"""
_APPEND = """
WITH moved AS (UPDATE memory_audithead SET seq = %(last)s, hash = %(head)s WHERE tenant_id = %(tenant)s)
INSERT INTO memory_auditevent (tenant_id, id, seq, at, actor_kind, actor_id, actor_name, action, target_kind,
    target_id, scope, reason, before, after, policy_version, request_id, hash)
SELECT %(tenant)s, e.id, e.seq, %(at)s, %(kind)s, %(actor)s, %(name)s, e.action, e.target_kind, e.target_id,
    e.scope, e.reason, e.before, e.after, e.policy, %(request)s, e.hash
  FROM unnest(%(ids)s::uuid[], %(seqs)s::bigint[], %(actions)s::text[], %(kinds)s::text[], %(targets)s::text[],
              %(scopes)s::text[], %(reasons)s::text[], %(befores)s::jsonb[], %(afters)s::jsonb[],
              %(policies)s::int[], %(hashes)s::bytea[])
    AS e(id, seq, action, target_kind, target_id, scope, reason, before, after, policy, hash)
"""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to what.  ``before`` and ``after`` name only what changed."""

    action: str
    target_kind: str
    target_id: str
    scope: str = ""
    reason: str = ""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    policy_version: int | None = None


def append(principal: Principal, events: Sequence[Event], now: datetime) -> None:
    """Chain the events, in order, to the tenant's audit, as the last thing of the present transaction.

    Two statements, however many events.  Only then the head row is locked: whoever holds it waits for nothing.
    """
    if events:
        before_commit(partial(_chain, principal, tuple(events), now))


def _chain(principal: Principal, events: Sequence[Event], now: datetime) -> None:
    tenant = current_tenant_id()
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_HEAD, [tenant, new_id(), audit_chain.GENESIS])
        seq, head = cursor.fetchone()
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        head = bytes(head)
        for event in events:
            seq += 1
            head = _add(columns, event, principal, now, seq, head)
        cursor.execute(
            _APPEND,
            {
                "tenant": tenant, "last": seq, "head": head, "at": now, "kind": principal.kind,
                "actor": principal.id, "name": principal.name, "request": principal.request_id, **columns,
            },
        )  # fmt: skip


_COLUMNS = (
    "ids", "seqs", "actions", "kinds", "targets", "scopes", "reasons", "befores", "afters", "policies",
    "hashes",
)  # fmt: skip


def _add(
    columns: dict[str, list[Any]], event: Event, principal: Principal, now: datetime, seq: int, head: bytes
) -> bytes:
    """Add one event to the columns of the statement; the hash that the next one follows."""
    event_id = new_id(now)
    before, after = _without_text(event.before), _without_text(event.after)
    digest = audit_chain.event_hash(
        head,
        {
            "id": event_id, "seq": seq, "at": now, "actor_kind": principal.kind, "actor_id": principal.id,
            "actor_name": principal.name, "action": event.action, "target_kind": event.target_kind,
            "target_id": event.target_id, "scope": event.scope, "reason": event.reason[:500], "before": before,
            "after": after, "policy_version": event.policy_version, "request_id": principal.request_id,
        },
    )  # fmt: skip
    values = (
        event_id, seq, event.action, event.target_kind, event.target_id, event.scope, event.reason[:500],
        Jsonb(before) if before is not None else None, Jsonb(after) if after is not None else None,
        event.policy_version, digest,
    )  # fmt: skip
    for name, value in zip(_COLUMNS, values, strict=True):
        columns[name].append(value)
    return digest


def _without_text(state: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The state with every memory text replaced by its keyed digest."""
    if state is None:
        return None
    if _TEXT_FIELDS.isdisjoint(state):
        return dict(state)
    key = text_key()
    return {
        name: audit_chain.text_digest(key, value)
        if name in _TEXT_FIELDS and isinstance(value, str)
        else value
        for name, value in state.items()
    }


def text_key() -> bytes:
    """The key of the current tenant's text digests.  Without it a digest cannot be tested against guesses."""
    secret = str(settings.SECRET_KEY).encode()
    return hmac.new(secret, b"memgov audit text " + current_tenant_id().bytes, hashlib.sha256).digest()

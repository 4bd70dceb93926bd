"""Appending to a tenant's audit chain, in the transaction of the change that is audited."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings

from memgov.ids import new_id
from memgov.json_text import json_text
from memgov.postgres.prepared import Prepared
from memory.domain import audit_chain
from tenants.context import before_commit, current_tenant_id, with_commit
from tenants.principals import Principal

# Texts never enter the chain in readable form: these fields are replaced by a keyed digest.
_TEXT_FIELDS = frozenset({"content", "value", "subject", "query"})

_APPEND = Prepared("audit_append", "SELECT memgov.append_audit($1, $2, $3, $4, $5, $6, $7)")


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

    One statement, however many events, sent with the COMMIT.  Only there the head row is locked: whoever holds it
    waits for nothing.
    """
    if events:
        before_commit(partial(_chain, principal, tuple(events), now))


def _chain(principal: Principal, events: Sequence[Event], now: datetime) -> None:
    """The statement: `memgov.append_audit` numbers and hashes the events, which travel as one value."""
    rows = json_text([_row(event, principal, now) for event in events])
    by = [principal.kind, principal.id, principal.name, principal.request_id]
    with_commit(*_APPEND([current_tenant_id(), now, *by, rows]))


def _row(event: Event, principal: Principal, now: datetime) -> dict[str, Any]:
    """One event's own columns; `head` and `tail` are its canonical form around the number that it has yet to get."""
    event_id = new_id(now)
    own = {
        "action": event.action, "target_kind": event.target_kind, "target_id": event.target_id, "scope": event.scope,
        "reason": event.reason[:500], "before": _without_text(event.before), "after": _without_text(event.after),
        "policy_version": event.policy_version,
    }  # fmt: skip
    common = {
        "id": event_id, "at": now, "actor_kind": principal.kind, "actor_id": principal.id,
        "actor_name": principal.name, "request_id": principal.request_id,
    }  # fmt: skip
    head, tail = audit_chain.around_seq({**own, **common})
    return {**own, "id": str(event_id), "head": head, "tail": tail}


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
    return hmac.digest(secret, b"memgov audit text " + current_tenant_id().bytes, "sha256")


def text_digest_of(text: str) -> str:
    """The digest by which a text of the current tenant is known in the chain."""
    return audit_chain.text_digest(text_key(), text)

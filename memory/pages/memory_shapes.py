"""Memories as the templates show them: a row of the explorer, and everything about one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memory.domain import lifecycle
from memory.domain.freshness import band
from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.domain.types import Kind, Status
from memory.models import Memory, Revision
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.audit_words import action_text, actor_text
from memory.pages.wording import plain, plain_reason, said_key, signals, value_words
from memory.selectors.vocabulary import words_known

# Fields of a revision that say nothing to a reader, or are shown apart.
_QUIET = frozenset({"content", "status_reason", "pinned_by", "superseded_by", "merged_into"})


def band_of(memory: Memory, policy: Policy, now: datetime) -> str:
    """The age band of a readable memory; "" for others, which no agent gets."""
    if memory.status not in lifecycle.READABLE:
        return ""
    rule = words_known(memory.tenant_id).registry.lookup(memory.predicate) if memory.predicate else None
    own = policy.for_scope(parse_scope(memory.scope))
    return band(Kind(memory.kind), rule, memory.learned_at, now, own).value


def row(viewer: Viewer, memory: Memory, policy: Policy, now: datetime) -> dict[str, Any]:
    """One line of the explorer."""
    return {
        "id_text": show_id("mem", memory.id),
        "url": address(viewer, memory),
        "content": memory.content or _("The text was erased"),
        "key": said_key(memory.subject, memory.predicate),
        "scope": memory.scope,
        "kind": plain(memory.kind),
        "layer": plain(memory.layer),
        "status": memory.status,
        "band": band_of(memory, policy, now),
        "pinned": is_pinned(memory, now),
        "confidence": memory.confidence,
        "trust": memory.trust,
        "use_count": memory.use_count,
        "learned_at": memory.learned_at,
        "agent": memory.agent_name,
    }


def address(viewer: Viewer, memory: Memory) -> str:
    """The page of a memory."""
    return url(viewer, "memory", show_id("mem", memory.id))


def is_pinned(memory: Memory, now: datetime) -> bool:
    """Whether a pin holds at the moment."""
    return memory.pinned_at is not None and (memory.pinned_until is None or memory.pinned_until > now)


# Fields that the page names as the table does.
_SAME = (
    "version", "scope", "layer", "subject", "predicate", "value", "importance", "confidence", "trust", "session",
    "task", "tool", "input_hash", "use_count", "reproductions", "recorded_at", "learned_at", "last_used_at",
    "expires_at", "review_by", "valid_from", "valid_to", "status",
)  # fmt: skip


def whole(viewer: Viewer, memory: Memory, policy: Policy, now: datetime) -> dict[str, Any]:
    """Every field, named as the template names them."""
    agent_url = url(viewer, "agent", show_id("agt", memory.agent_id)) if memory.agent_id else ""
    return {
        **{name: getattr(memory, name) for name in _SAME},
        "id_text": show_id("mem", memory.id),
        "content": memory.content,
        "band": band_of(memory, policy, now),
        "kind": plain(memory.kind),
        "origin": plain(memory.origin),
        "applies_to": ", ".join([*memory.paths, *memory.tags]),
        "agent": memory.agent_name,
        "agent_url": agent_url,
        "key_prefix": getattr(memory, "key_prefix", None) or "",
        "status_reason": plain(memory.status_reason),
        "expiry_text": _expiry_text(memory),
        "findings": signals(memory.findings),
        "metadata": json.dumps(memory.metadata, ensure_ascii=False, indent=1) if memory.metadata else "",
        "also_learned_in": memory.also_learned_in,
        "pin": _pin(memory, now),
        "policy_version": memory.policy_version,
    }


def _expiry_text(memory: Memory) -> str:
    """What is said where there is no date."""
    return "" if memory.expires_at else _("no expiry (policy default)")


def _pin(memory: Memory, now: datetime) -> dict[str, Any] | None:
    if memory.pinned_at is None:
        return None
    ended = not is_pinned(memory, now)
    return {"by": memory.pinned_by, "reason": memory.pin_reason, "until": memory.pinned_until, "ended": ended}


def allowed(viewer: Viewer, memory: Memory) -> dict[str, bool]:
    """What the viewer may do with it now."""
    status, may = Status(memory.status), viewer.can("review")
    readable = status in lifecycle.READABLE
    return {
        "admit": may and status is Status.CANDIDATE,
        "pin": may and readable and memory.pinned_at is None,
        "unpin": may and memory.pinned_at is not None,
        "verify": may and readable,
        "edit": may and (readable or status is Status.CANDIDATE),
        "restore": may and status in lifecycle.RESTORABLE,
        "delete": may
        and lifecycle.Event.DELETE in lifecycle.allowed(status)
        and status is not Status.QUARANTINED,
    }


def revisions(rows: Sequence[Revision]) -> list[dict[str, Any]]:
    """Versions, newest first, each against the one before it."""
    shown = []
    for at, row in enumerate(rows):
        before: dict[str, Any] = rows[at + 1].state if at + 1 < len(rows) else {}
        text, old = str(row.state.get("content", "")), str(before.get("content", ""))
        did = action_text(row.event)
        shown.append(
            {
                "version": row.version,
                "at": row.at,
                "actor": actor_text(row.actor),
                "text": f"{did}: {plain_reason(row.reason)}" if row.reason else did,
                "old": old if before and old != text else "",
                "new": text if old != text else "",
                "changes": _changed(before, row.state) if before else [],
            }
        )
    return shown[:50]


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"field": plain(name), "before": _value(name, before.get(name)), "after": _value(name, value)}
        for name, value in after.items()
        if name not in _QUIET and before.get(name) != value
    ]


def _value(field: str, value: Any) -> str:
    if value is None or value == "" or value == []:
        return _("nothing")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return value_words(field, str(value))

"""The changes of one use case: applied one by one, remembered for undo, audited together at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.normalise import value_hash
from memory.domain.scopes import parse_scope
from memory.domain.types import Status
from memory.domain.validity import begins_later
from memory.models import Memory
from memory.selectors.policies import ActivePolicy
from memory.selectors.vocabulary import name_now, predicate_now
from memory.services.embedding import vector_of
from memory.services.errors import Conflict
from memory.store import audit, memories
from tenants.principals import Principal

_TIMES = frozenset(
    {
        "expires_at",
        "learned_at",
        "review_by",
        "valid_from",
        "valid_to",
        "pinned_at",
        "pinned_until",
        "begins_at",
    }
)
_IDS = frozenset({"superseded_by", "merged_into"})


class Changes:
    """Collects what one use case does to memories.

    `undo` is what `revert` needs and `counts` what `merging.recount` needs, as JSON values; `finish` writes
    the audit events, last, because that locks the tenant's chain.
    """

    def __init__(self, actor: Principal, now: datetime, active: ActivePolicy) -> None:
        self.actor, self.now, self.active = actor, now, active
        self.undo: list[dict[str, Any]] = []
        self.counts: list[dict[str, Any]] = []
        self._events: list[audit.Event] = []

    def set(self, memory: Memory, action: str, reason: str = "", **fields: Any) -> Memory:
        """Set fields of a memory under an audit action such as `memory.pinned`.

        What becomes readable goes by the name that its subject has by now: it was not there to be renamed when that
        became an alias, and under the old name nobody could ever correct it.
        """
        if self._becomes_readable(memory, fields) and name_now(memory.subject) != memory.subject:
            fields["subject"] = name_now(memory.subject)
        if self._becomes_readable(memory, fields) and "predicate" not in fields:
            fields |= self._under_its_rule(memory)
        if self._may_wait(memory, fields):
            fields["begins_at"] = begins_later(fields.get("valid_from", memory.valid_from), self.now)
        before = {name: memories.plain(getattr(memory, name)) for name in fields}
        scope = memory.scope
        needs_vector = self._becomes_readable(memory, fields) or "content" in fields
        # Embedded inside the transaction: these are single acts of people, and the text was embedded before.
        vector = vector_of(fields.get("content", memory.content)) if needs_vector else None
        change = memories.Change(action, self.actor.name, reason, self.now, fields)
        memories.change(memory, change, vector=vector)
        self.undo.append({"id": str(memory.id), "version": memory.version, "fields": before})
        after = {name: memories.plain(value) for name, value in fields.items()}
        self.note(action, memory, reason=reason, scope=scope, before=before, after=after)
        return memory

    def _under_its_rule(self, memory: Memory) -> dict[str, Any]:
        """What has been renamed while the memory was not there to be: its predicate, and what follows from the rule."""
        if predicate_now(memory.predicate) == memory.predicate:
            return {}
        rule = self.active.words.registry.lookup(memory.predicate)
        policy = self.active.policy.for_scope(parse_scope(memory.scope))
        single = rule.single_valued and policy.reconciliation.single_valued == "supersede"
        hashed = value_hash(memory.value or memory.content, rule.normaliser)
        return {"predicate": rule.name, "single_valued": single, "value_hash": hashed}

    def _may_wait(self, memory: Memory, fields: Mapping[str, Any]) -> bool:
        """Whether its beginning counts anew: it comes among what holds now, or begins at another instant."""
        moved = "valid_from" in fields or "scope" in fields
        counts = moved or self._becomes_readable(memory, fields)
        return counts and (memory.begins_at or fields.get("valid_from", memory.valid_from)) is not None

    @staticmethod
    def _becomes_readable(memory: Memory, fields: Mapping[str, Any]) -> bool:
        after = fields.get("status", memory.status)
        return after in lifecycle.READABLE and memory.status not in lifecycle.READABLE

    def move(
        self, memory: Memory, event: lifecycle.Event, action: str, reason: str = "", **fields: Any
    ) -> Memory:
        """Change a memory's status by a lifecycle event.  Raises `Conflict` when the table has no such step."""
        try:
            status = lifecycle.move(Status(memory.status), event)
        except lifecycle.IllegalTransition as error:
            raise Conflict(f"{error}; nothing was changed", code="illegal_transition") from None
        return self.set(memory, action, reason, status=status.value, status_reason=reason[:500], **fields)

    def note(self, action: str, memory: Memory, **more: Any) -> None:
        """An audit event about a memory."""
        more.setdefault("scope", memory.scope)
        self.add(action, "memory", show_id("mem", memory.id), **more)

    def add(self, action: str, kind: str, target: str, **more: Any) -> None:
        """An audit event about anything."""
        more.setdefault("policy_version", self.active.number)
        self._events.append(audit.Event(action, kind, target, **more))

    def finish(self) -> None:
        """Append the collected events to the audit chain."""
        audit.append(self.actor, self._events, self.now)
        self._events = []


def revert(changes: Changes, undo: Sequence[Mapping[str, Any]], action: str, reason: str) -> None:
    """Take remembered changes back, the last first.

    Raises `Conflict` when a memory has changed since: an undo never overwrites what came after.
    """
    rows = memories.lock({UUID(entry["id"]) for entry in undo})
    latest = {UUID(entry["id"]): entry["version"] for entry in undo}
    if any(rows[memory_id].version != version for memory_id, version in latest.items()):
        raise Conflict("the memory has changed since; nothing was undone", code="changed_since")
    for entry in reversed(undo):
        fields = {name: parsed(name, value) for name, value in entry["fields"].items()}
        changes.set(rows[UUID(entry["id"])], action, reason, **fields)


def parsed(name: str, value: Any) -> Any:
    """A column's value from its JSON form."""
    if value is None:
        return None
    if name in _TIMES:
        return parse_datetime(value)
    if name == "value_hash":
        return bytes.fromhex(value)
    return UUID(value) if name in _IDS else value

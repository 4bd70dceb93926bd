"""Writing memories: insert, change, confirm.  Every change makes a revision and keeps the index in step.

A change is a filtered update on (tenant, id, version): when the version has moved on, nothing is written and
`VersionMoved` says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection
from django.db.models import F
from django.db.models.expressions import Combinable

from memgov.ids import new_id
from memgov.json_text import json_text
from memgov.postgres.arrays import array_text
from memgov.postgres.prepared import Prepared
from memory.domain.lifecycle import READABLE
from memory.domain.search_terms import index_terms
from memory.models import Memory, Revision
from memory.models.memory import LIVE_STATUSES
from memory.store.rows import row_json
from memory.store.search_index import FOLLOWED, INSERT_INTO, follow, index
from memory.store.vectors import Vector, halfvec
from tenants.context import current_tenant_id, with_commit

# What a revision keeps: everything that a version can differ in.
_REVISED = (
    "scope", "layer", "kind", "subject", "predicate", "single_valued", "value", "content", "paths", "tags",
    "metadata", "importance", "confidence", "trust", "origin", "status", "status_reason", "expires_at", "review_by",
    "valid_from", "valid_to", "pinned_by", "pin_reason", "pinned_until", "superseded_by", "merged_into",
)  # fmt: skip


class VersionMoved(Exception):
    """The memory changed since it was read."""


class AlreadyLive(Exception):
    """A live row with the same key or text was committed meanwhile: read again and decide anew."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one memory: the event's name, who and why, and the fields that it sets."""

    event: str
    actor: str
    reason: str
    now: datetime
    fields: dict[str, Any]


_INSERT = f"""
WITH made AS (
    INSERT INTO memory_memory AS m SELECT * FROM json_populate_record(NULL::memory_memory, $1)
    {{unless}} RETURNING m.*
),
revised AS (
    INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)
    SELECT tenant_id, $2::uuid, id, version, recorded_at, 'memory.stored', $3::text, status_reason, $4::jsonb FROM made
),
indexed AS (
    {INSERT_INTO}, $5::text[], cardinality($5::text[]), $6::halfvec, $7::text FROM made m WHERE $8::bool
)
SELECT count(*) FROM made
"""
_INSERT_NOW = Prepared("memory_insert", _INSERT.format(unless="ON CONFLICT DO NOTHING"))
_INSERT_LAST = Prepared("memory_insert_last", _INSERT.format(unless=""))
# One live value of a key, one live row of a text (see `Memory`).
_RIVALS = frozenset({"one_live_value", "one_live_text"})


def insert(memory: Memory, *, actor: str, vector: Vector | None, last: bool = False) -> None:
    """Store a new memory with its first revision, and index it if agents may read it: one statement.

    Raises `AlreadyLive` when the database holds a live row that it must not stand beside.  With `last` the statement
    travels with the COMMIT, and such a row is told by what the end of the transaction raises (`of_rival`).
    """
    memory.tenant_id = current_tenant_id()
    found = index_terms(memory.content) if memory.status in READABLE else []
    values: list[Any] = [
        row_json(memory), new_id(memory.recorded_at), actor, json_text(_state(memory), plain), array_text(found),
        halfvec(vector), vector.model_id if vector else "", memory.status in READABLE,
    ]  # fmt: skip
    if last:
        with_commit(*_INSERT_LAST(values))
        return
    with connection.cursor() as cursor:
        cursor.execute(*_INSERT_NOW(values))
        (made,) = cursor.fetchone()
    if not made:
        raise AlreadyLive(memory.content)


def of_rival(fault: IntegrityError) -> bool:
    """Whether the fault says that a live row stands where a new one was to stand."""
    return getattr(getattr(fault.__cause__, "diag", None), "constraint_name", None) in _RIVALS


def change(memory: Memory, change: Change, *, vector: Vector | None = None) -> Memory:
    """Apply the change to this version of the memory and return the memory as it is now."""
    fields = dict(change.fields)
    if "status" in fields and fields["status"] != memory.status:
        fields["status_changed_at"] = change.now
    try:
        rows = Memory.objects.filter(id=memory.id, version=memory.version)
        updated = rows.update(version=memory.version + 1, **fields)
    except IntegrityError:
        raise AlreadyLive(memory.content) from None
    if not updated:
        raise VersionMoved(str(memory.id))
    was_readable = memory.status in READABLE
    for name, value in fields.items():
        setattr(memory, name, value)
    memory.version += 1
    _revise(memory, change)
    _follow(memory, was_readable, fields, vector)
    return memory


_REVISE = """
WITH revised AS (INSERT INTO memory_revision SELECT * FROM json_populate_record(NULL::memory_revision, %s))
DELETE FROM memory_index WHERE tenant_id = %s AND memory_id = %s AND %s
"""


def _revise(memory: Memory, change: Change) -> None:
    """Keep the new version, and make it unfindable if nobody may read it any more: one statement."""
    revision = Revision(
        tenant_id=memory.tenant_id,
        memory_id=memory.id,
        version=memory.version,
        at=change.now,
        event=change.event,
        actor=change.actor,
        reason=change.reason[:500],
        state=snapshot(memory),
    )
    gone = memory.status not in READABLE
    with connection.cursor() as cursor:
        cursor.execute(_REVISE, [row_json(revision), memory.tenant_id, memory.id, gone])


def _follow(memory: Memory, was_readable: bool, fields: dict[str, Any], vector: Vector | None) -> None:
    """Keep the index in step with a change of a memory that is readable."""
    readable = memory.status in READABLE
    if readable and (not was_readable or "content" in fields):
        index(memory, vector)
    elif readable and not FOLLOWED.isdisjoint(fields):
        follow([memory.id])


def count(memory: Memory, **fields: Any) -> None:
    """Move counters and times that make no new version (uses, confirmations)."""
    Memory.objects.filter(id=memory.id).update(**fields)
    if not FOLLOWED.isdisjoint(fields):
        follow([memory.id])
    for name, value in fields.items():
        if not isinstance(value, Combinable):
            setattr(memory, name, value)


def count_use(ids: Iterable[UUID], now: datetime) -> int:
    """A reported use of each: the only thing that moves `last_used_at` and `use_count`."""
    return Memory.objects.filter(id__in=list(ids)).update(use_count=F("use_count") + 1, last_used_at=now)


_BEGUN = f"""
UPDATE memory_memory m SET begins_at = NULL
 WHERE m.tenant_id = %(tenant)s AND m.begins_at <= %(now)s AND m.status IN {LIVE_STATUSES} AND NOT EXISTS (
       SELECT FROM memory_memory o
        WHERE o.tenant_id = %(tenant)s AND o.scope = m.scope AND o.subject = m.subject AND o.predicate = m.predicate
          AND o.id <> m.id AND o.status IN {LIVE_STATUSES} AND (o.begins_at IS NULL OR o.begins_at <= %(now)s)
          AND (o.value_hash = m.value_hash OR o.single_valued AND m.single_valued AND o.claim = m.claim))
"""


def begun(now: datetime) -> None:
    """What waited for its beginning and stands alone by now waits no more: a place like any other."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGUN, {"tenant": current_tenant_id(), "now": now})


def lock(ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """The memories, locked in the order of their ids."""
    rows = Memory.objects.select_for_update().filter(id__in=list(ids)).order_by("id")
    return {row.id: row for row in rows}


def snapshot(memory: Memory) -> dict[str, Any]:
    """The memory's state as JSON values."""
    return {name: plain(value) for name, value in _state(memory).items()}


def _state(memory: Memory) -> dict[str, Any]:
    values = vars(memory)
    return {name: values[name] for name in _REVISED}


def plain(value: Any) -> Any:
    """A column's value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return str(value) if isinstance(value, UUID) else value

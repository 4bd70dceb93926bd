"""A tenant with planted memories: rows in any number and age, which no writer could make in the time of a test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import connection, connections

from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import Memory
from memory.store import scopes
from memory.store.search_index import INSERT_INTO
from tenants.context import tenant_context
from tests.factories import Stage, make_tenant

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

# The first row is made from the model; the others are copies of it under other ids and texts.
_COPIES = """
INSERT INTO memory_memory
SELECT copy.*
  FROM memory_memory m
 CROSS JOIN generate_series(2, %(rows)s) AS n
 CROSS JOIN LATERAL jsonb_populate_record(m, jsonb_build_object(
        'id', gen_random_uuid(), 'content', %(content)s || n, 'value', %(value)s || n,
        'value_hash', sha256((m.scope || %(content)s || n)::bytea))) AS copy
 WHERE m.tenant_id = %(tenant)s AND m.id = %(first)s
RETURNING id
"""
_REST = f"""
WITH indexed AS (
    {INSERT_INTO}, ARRAY['planted'], 1, NULL, ''
      FROM memory_memory m
     WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s) AND m.status IN ('live', 'contested')
)
INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)
SELECT tenant_id, gen_random_uuid(), id, 1, recorded_at, 'memory.stored', 'planter', '',
       jsonb_build_object('scope', scope, 'status', status)
  FROM memory_memory WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)
"""
_DEFAULTS = {
    "scope": "project:alpha", "layer": "semantic", "kind": "fact", "importance": 0.7, "confidence": 0.7,
    "trust": 0.9, "origin": "user_explicit", "agent_name": "planter", "status": "live",
}  # fmt: skip


_MANY = 500


def _analyze() -> None:
    """What autovacuum does within a minute.  Until then the planner takes the tenant for a small one, and every
    check of a foreign key reads all of its rows."""
    with connections["owner"].cursor() as owner:
        owner.execute("ANALYZE memory_memory, memory_revision, memory_index")


class Plot:
    """A tenant, a fresh one unless it is named, planting in it, and looking at what became of it."""

    def __init__(self, policy: Policy | None = None, *, stage: Stage | None = None) -> None:
        self.stage: Stage = stage or make_tenant(policy=policy)
        self.tenant_id: UUID = self.stage.tenant.id

    def plant(
        self, rows: int = 1, *, content: str = "planted fact ", at: datetime = NOW, **fields: Any
    ) -> list[UUID]:
        """Plant so many memories, alike but for a number at the end of text and value; their ids."""
        times = {"recorded_at": at, "learned_at": at, "status_changed_at": at}
        memory = Memory(
            **{**_DEFAULTS, **times, "tenant_id": self.tenant_id, "content": f"{content}1", **fields}
        )
        memory.value_hash = sha256(f"{memory.scope}{content}1".encode()).digest()
        value, memory.value = memory.value, f"{memory.value}1"
        values = {
            "tenant": self.tenant_id,
            "first": memory.id,
            "rows": rows,
            "content": content,
            "value": value,
        }
        with tenant_context(self.tenant_id), connection.cursor() as cursor:
            scopes.ensure(self.tenant_id, parse_scope(memory.scope), None)
            Memory.objects.bulk_create([memory])
            cursor.execute(_COPIES, values)
            ids = [memory.id, *(row[0] for row in cursor.fetchall())]
        if rows > _MANY:
            _analyze()
        with tenant_context(self.tenant_id), connection.cursor() as cursor:
            cursor.execute(_REST, {"tenant": self.tenant_id, "ids": ids})
        return ids

    def look(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of a statement about the tenant; `%(tenant)s` is its id."""
        with tenant_context(self.tenant_id), connection.cursor() as cursor:
            cursor.execute(sql, {"tenant": self.tenant_id, **parameters})
            return cursor.fetchall()

    def statuses(self, ids: Sequence[UUID]) -> list[str]:
        """The statuses of memories, in the order of the ids."""
        sql = "SELECT id, status FROM memory_memory WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)"
        found = dict(self.look(sql, ids=list(ids)))
        return [found[memory_id] for memory_id in ids]

    def count(self, table: str, where: str = "true") -> int:
        """How many rows of a table the tenant has."""
        return int(self.look(f"SELECT count(*) FROM {table} WHERE tenant_id = %(tenant)s AND {where}")[0][0])

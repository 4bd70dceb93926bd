"""Bringing memgov to a size in seconds: the rows that writes would have made, copied in one stream per table.

Each memory is built by the product's own functions (`prepare`, `build`, `terms`), so a row holds what a write would
have put there, with its first revision and its index entry.  What is left out is what no later read or write looks at:
admission (the workload passes it), the decision rows and the audit events.  COPY is not allowed under row-level
security, so a superuser of the bench's own server does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from bench import workload
from bench.systems.memgov import SESSION
from memgov import clock
from memgov.ids import new_id
from memory.domain.scopes import parse_scope
from memory.domain.search_terms import index_terms
from memory.domain.types import Status
from memory.models import Memory
from memory.selectors.candidates import MOST_EXACT
from memory.selectors.policies import active_policy
from memory.services.candidates import prepare
from memory.services.embedding import vectors_of
from memory.services.purify import Clean
from memory.services.write_draft import Draft, build, hash_of
from memory.services.write_types import WriteRequest
from memory.store import scopes
from memory.store.memories import snapshot
from memory.store.search_index import INSERT_INTO
from memory.store.vectors import halfvec
from tenants.context import tenant_context
from tenants.principals import Principal

CHUNK = 5000
TABLES = "memory_memory, memory_revision, memory_index, memory_scoperecord"
_REVISION = ("tenant_id", "id", "memory_id", "version", "at", "event", "actor", "reason", "state")
_INDEX = ("memory_id", "terms", "term_count", "embedding", "model_id")
_INDEXED = "CREATE TEMPORARY TABLE found (memory_id uuid, terms text[], term_count int, embedding text, model_id text)"
_TO_INDEX = f"""
{INSERT_INTO}, f.terms, f.term_count, f.embedding::halfvec, f.model_id
  FROM found f JOIN memory_memory m ON m.tenant_id = %s AND m.id = f.memory_id
"""
_FEED = """
UPDATE memory_index SET settled = true
 WHERE NOT settled AND embedding IS NOT NULL
   AND tenant_id IN (SELECT tenant_id FROM memory_index GROUP BY tenant_id HAVING count(*) > %s)
"""


def fill(
    principal: Principal,
    superuser_url: str,
    start: int,
    count: int,
    *,
    embed: bool = True,
    settle: bool = True,
) -> None:
    """Store the memories of these numbers as live, and let the planner know unless `settle` is false.

    `embed` false leaves the vectors out, for work that looks at none.
    """
    wanted = workload.facts(start, count)
    with psycopg.connect(superuser_url) as connection:
        connection.execute(_INDEXED)
        while chunk := list(islice(wanted, CHUNK)):
            rows = _rows(principal, chunk)
            _copy(connection, "memory_memory", _columns(), (_values(row) for row in rows))
            _copy(connection, "memory_revision", _REVISION, (_revision(row) for row in rows))
            _copy(connection, "found", _INDEX, _index(rows, embed))
            connection.execute(_TO_INDEX.encode(), [principal.tenant_id])
            connection.execute("TRUNCATE found")
            connection.commit()
    if settle:
        settled(superuser_url)


def settled(superuser_url: str) -> None:
    """What the vectors sweep and autovacuum do within minutes."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute(_FEED.encode(), [MOST_EXACT])
        connection.execute(f"VACUUM ANALYZE {TABLES}".encode())


def _rows(principal: Principal, facts: Sequence[workload.Fact]) -> list[Memory]:
    now = clock.now()
    rows = []
    with tenant_context(principal.tenant_id):
        active = active_policy()
        for name in {f"user:{fact.user}" for fact in facts}:
            scopes.ensure(principal.tenant_id, parse_scope(name), principal.agent_id)
        for fact in facts:
            prepared = prepare(principal, request_of(fact), active, now)
            draft = Draft(principal, prepared, active, now)
            clean = Clean(prepared.candidate, "pass", None, None, ())
            row = build(clean, draft, Status.LIVE, hash_of(clean.candidate, draft))
            row.tenant_id = principal.tenant_id
            rows.append(row)
    return rows


def request_of(fact: workload.Fact) -> WriteRequest:
    """The request that `bench.systems.memgov` sends, as the service gets it."""
    return WriteRequest(
        content=fact.text, subject=fact.subject, predicate=fact.predicate, value=fact.value, scope=f"user:{fact.user}",
        origin="user_explicit", confidence=0.9, importance=0.9, session=f"{SESSION}-{fact.user}",
    )  # fmt: skip


def _copy(
    connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]
) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _columns() -> list[str]:
    return [field.column for field in Memory._meta.concrete_fields if field.column]


def _values(row: Memory) -> list[Any]:
    values = []
    for field in Memory._meta.concrete_fields:
        if field.column:
            value = getattr(row, field.attname)
            values.append(Jsonb(value) if field.get_internal_type() == "JSONField" else value)
    return values


def _revision(row: Memory) -> list[Any]:
    return [
        row.tenant_id, new_id(row.recorded_at), row.id, row.version, row.recorded_at, "memory.stored",
        row.agent_name, "", Jsonb(snapshot(row)),
    ]  # fmt: skip


def _index(rows: Sequence[Memory], embed: bool) -> Iterator[list[Any]]:
    found = vectors_of([row.content for row in rows]) if embed else [None] * len(rows)
    for row, vector in zip(rows, found, strict=True):
        words = index_terms(row.content)
        yield [row.id, words, len(words), halfvec(vector), vector.model_id if vector else ""]

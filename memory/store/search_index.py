"""The search index: what a retrieval reads of a live memory, kept in step with the memory itself.

A row repeats what the filters of a search need (age, trust, expiry, scope, where it applies), so that a search reads
no memory that it does not return.  Rows come and go with the status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db import connection

from memgov.json_text import json_text
from memory.domain.search_terms import index_terms
from memory.models import Memory
from memory.store.vectors import Vector, halfvec
from tenants.context import current_tenant_id

# Columns that repeat the memory `m`.
REPEATED: Final = {
    "learned_at": "m.learned_at",
    "trust": "m.trust",
    "source": "memgov.text_number(m.agent_name || '/' || m.tool)",
    "run": "CASE WHEN m.session = '' THEN 0 ELSE memgov.text_number(m.scope || ' ' || m.session) END",
    "contested": "m.status = 'contested'",
    "narrowed": "cardinality(m.tags) + cardinality(m.paths) > 0",
    "expires_at": "m.expires_at",
    "valid_from": "m.valid_from",
    "valid_to": "m.valid_to",
    "scope": "m.scope",
    "layer": "m.layer",
    "kind": "m.kind",
    "tags": "m.tags",
    "paths": "m.paths",
}
# What of a memory a change must touch for its row to be written again.
FOLLOWED: Final = frozenset(
    {"learned_at", "trust", "agent_name", "tool", "session", "scope", "status", "tags", "paths", "expires_at", "layer",
     "kind", "valid_from", "valid_to"}
)  # fmt: skip

INSERT_INTO: Final = f"""
INSERT INTO memory_index (tenant_id, memory_id, {", ".join(REPEATED)}, terms, term_count, embedding, model_id)
SELECT m.tenant_id, m.id, {", ".join(REPEATED.values())}"""
"""The start of a statement that indexes memories `m`; the values of the last four columns follow."""

_INDEX: Final = f"""
{INSERT_INTO}, x.terms, cardinality(x.terms), x.embedding::halfvec, x.model
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS x(id uuid, terms text[], embedding text, model text)
  JOIN memory_memory m ON m.id = x.id AND m.tenant_id = %(tenant)s
ON CONFLICT (tenant_id, memory_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in REPEATED)},
    terms = excluded.terms, term_count = excluded.term_count, embedding = excluded.embedding,
    model_id = excluded.model_id, settled = false
"""
_FOLLOW: Final = f"""
UPDATE memory_index i SET {", ".join(f"{name} = {value}" for name, value in REPEATED.items())}
  FROM memory_memory m
 WHERE i.tenant_id = %(tenant)s AND m.tenant_id = %(tenant)s AND m.id = i.memory_id AND i.memory_id = ANY(%(ids)s)
"""


def index(memory: Memory, vector: Vector | None) -> None:
    """Make the memory findable: its terms, and its vector when there is one."""
    index_many([(memory, vector)])


def index_many(found: Iterable[tuple[Memory, Vector | None]]) -> None:
    """The same for several memories of the current tenant, in one statement."""
    rows = [
        {"id": str(memory.id), "terms": index_terms(memory.content), "embedding": halfvec(vector),
         "model": vector.model_id if vector else ""}
        for memory, vector in found
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_INDEX, {"tenant": current_tenant_id(), "rows": json_text(rows)})


def follow(ids: Iterable[UUID]) -> None:
    """Repeat what these memories are now; those that are not findable stay so."""
    with connection.cursor() as cursor:
        cursor.execute(_FOLLOW, {"tenant": current_tenant_id(), "ids": list(ids)})


_SETTLE: Final = """
WITH picked AS MATERIALIZED (
    SELECT memory_id FROM memory_index
     WHERE tenant_id = %(tenant)s AND NOT settled AND embedding IS NOT NULL
     ORDER BY memory_id LIMIT %(most)s FOR UPDATE SKIP LOCKED
)
UPDATE memory_index i SET settled = true FROM picked
 WHERE i.tenant_id = %(tenant)s AND i.memory_id = picked.memory_id
"""


def settle(most: int) -> int:
    """Take at most `most` rows of the present tenant into the vector index; how many."""
    with connection.cursor() as cursor:
        cursor.execute(_SETTLE, {"tenant": current_tenant_id(), "most": most})
        return cursor.rowcount


_ADD: Final = f"""
{INSERT_INTO}, '{{}}', 0, NULL, ''
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS x(id uuid, version int)
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = x.id AND m.version = x.version
ON CONFLICT DO NOTHING
"""


def add(versions: Mapping[UUID, int]) -> int:
    """Give these versions of memories a row where they have none, as yet without terms and vector; how many."""
    return _put(_ADD, [{"id": one, "version": version} for one, version in versions.items()])


# Only of the version that was looked at: whoever made a newer one has indexed it.
_PUT: Final = """
UPDATE memory_index i SET {what}
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS x(id uuid, version int, terms text[], embedding text, model text)
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = x.id AND m.version = x.version
 WHERE i.tenant_id = %(tenant)s AND i.memory_id = x.id
"""
_PUT_TERMS: Final = _PUT.format(what="terms = x.terms, term_count = cardinality(x.terms)")
_PUT_VECTORS: Final = _PUT.format(
    what="embedding = x.embedding::halfvec, model_id = x.model, settled = false"
)


def put_terms(found: Iterable[tuple[UUID, int, Sequence[str]]]) -> int:
    """Give these versions of memories other terms; how many rows took them."""
    return _put(
        _PUT_TERMS, [{"id": one, "version": version, "terms": terms} for one, version, terms in found]
    )


def put_vectors(found: Iterable[tuple[UUID, int, Vector]]) -> int:
    """Give these versions of memories other vectors; how many rows took them."""
    rows = [
        {"id": one, "version": version, "embedding": halfvec(vector), "model": vector.model_id}
        for one, version, vector in found
    ]
    return _put(_PUT_VECTORS, rows)


def _put(statement: str, rows: Sequence[Mapping[str, object]]) -> int:
    if not rows:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(statement, {"tenant": current_tenant_id(), "rows": json_text(rows)})
        return cursor.rowcount


def unindex(ids: Sequence[UUID]) -> None:
    """Make memories unfindable."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM memory_index WHERE tenant_id = %s AND memory_id = ANY(%s)",
            [current_tenant_id(), list(ids)],
        )

"""Memories by the hundred thousand: copies of a few that the product's own functions built, made inside the database.

The copies differ in id, subject, text and vector (the sum of two of the originals' vectors), so that no index meets the
same key twice.  For amounts that even COPY takes too long for; they stand around and are swept, nobody asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

from bench.fill import fill
from memory.models import Memory
from memory.store.search_index import INSERT_INTO
from tenants.principals import Principal

ORIGINALS = 1_000
_COPY_BATCH = 100_000

_VECTOR_INDEXES = """
SELECT c.relname, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
 WHERE i.indrelid = 'memory_index'::regclass AND a.amname = 'hnsw'
"""


@dataclass(frozen=True, slots=True)
class Planting:
    """How many rows a tenant gets and in which way copies differ: SQL by column, with `n` the copy's number."""

    rows: int
    vectors: bool
    columns: Mapping[str, str] = field(default_factory=dict)


def plant(principal: Principal, superuser_url: str, planting: Planting) -> None:
    """Give the tenant its originals and then copies of them, live and indexed; without revisions of the copies.

    The planner does not know of them until `bench.fill.settled`.
    """
    originals = min(ORIGINALS, planting.rows)
    fill(principal, superuser_url, 0, originals, embed=planting.vectors, settle=False)
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # no foreign keys checked row by row
        _number_originals(connection, principal)
        for start in range(originals, planting.rows, _COPY_BATCH):
            wanted = {
                "start": start,
                "end": min(start + _COPY_BATCH, planting.rows) - 1,
                "originals": originals,
            }
            connection.execute(_copies(planting).encode(), wanted)
        connection.execute("DROP TABLE original")


def without_vector_indexes(superuser_url: str) -> list[str]:
    """Drop the indexes of vectors, which take far longer row by row than built at once; how to make them again."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        found = connection.execute(_VECTOR_INDEXES.encode()).fetchall()
        for name, _ in found:
            connection.execute(f"DROP INDEX {name}".encode())
    return [definition for _, definition in found]


def make_indexes(superuser_url: str, definitions: list[str]) -> None:
    """Make dropped indexes again."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '1GB'")
        for definition in definitions:
            connection.execute(definition.encode())


def _number_originals(connection: psycopg.Connection[Any], principal: Principal) -> None:
    connection.execute(
        """CREATE TEMPORARY TABLE original AS
           SELECT row_number() OVER (ORDER BY id) - 1 AS place, m AS memory, i.terms, i.term_count, i.embedding,
                  i.model_id
             FROM memory_memory m JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
            WHERE m.tenant_id = %s""",
        [principal.tenant_id],
    )
    connection.execute("CREATE UNIQUE INDEX ON original (place)")
    connection.execute("ANALYZE original")


def _copies(planting: Planting) -> str:
    differs = {
        "id": "uuidv7()",
        "subject": "(o.memory).subject || ' ' || n",
        "content": "(o.memory).content || ' ' || n",
        **planting.columns,
    }
    names = [one.column for one in Memory._meta.concrete_fields if one.column]
    values = ", ".join(f"{differs.get(name, f'(o.memory).{name}')} AS {name}" for name in names)
    mixed = "o.embedding + other.embedding" if planting.vectors else "NULL::halfvec"
    # Of two originals a different pair for each copy, as long as there are fewer copies than pairs.
    return f"""
WITH made AS MATERIALIZED (
    SELECT {values}, o.terms AS index_terms, o.term_count AS index_count, {mixed} AS index_vector, o.model_id AS model
      FROM generate_series(%(start)s::bigint, %(end)s) AS n
      JOIN original o ON o.place = mod(n, %(originals)s)
      JOIN original other ON other.place = mod(mod(n, %(originals)s) + n / %(originals)s, %(originals)s)
),
stored AS (INSERT INTO memory_memory ({", ".join(names)}) SELECT {", ".join(names)} FROM made)
{INSERT_INTO}, m.index_terms, m.index_count, m.index_vector, m.model FROM made m
"""

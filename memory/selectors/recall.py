"""The search behind a retrieval: filters that are not optional, BM25 and cosine, in one round trip.

Exact: every readable row is looked at, which is right and fast while scopes are bounded.  Rows are filtered
here, in SQL under row-level security; ranking them is `memory.domain.fusion`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memory.selectors.globs import AS_LIKE
from memory.selectors.visibility import READABLE_SCOPES, Reach

# BM25's usual constants (Robertson and Zaragoza 2009, section 3.4).
_K1, _B = 1.2, 0.75
# Rows handed to the fusion from each side, as a multiple of what is asked for.
_POOL_FACTOR, _POOL_LEAST = 5, 60

_SEARCH = f"""
WITH scopes AS MATERIALIZED ({READABLE_SCOPES}),
base AS MATERIALIZED (
    SELECT i.memory_id, i.terms, i.term_count, 1 - (i.embedding <=> %(vector)s::halfvec) AS cosine,
           CASE WHEN m.expires_at <= %(now)s THEN 'expired'
                WHEN m.trust < %(min_trust)s THEN 'low_trust'
                WHEN %(high_stakes)s AND m.status = 'contested' THEN 'contested'
                WHEN %(since)s::timestamptz IS NOT NULL AND m.learned_at < %(since)s THEN 'outside_window'
                WHEN cardinality(m.tags) > 0 AND NOT m.tags && %(tags)s THEN 'not_applicable'
                WHEN cardinality(m.paths) > 0 AND NOT EXISTS (
                    SELECT FROM unnest(m.paths) AS glob, unnest(%(paths)s::text[]) AS path WHERE path LIKE {AS_LIKE}
                ) THEN 'not_applicable'
           END AS excluded
      FROM memory_index i
      JOIN memory_memory m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
     WHERE i.tenant_id = %(tenant)s AND i.scope IN (SELECT name FROM scopes)
       AND m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
       AND (%(layers)s::text[] IS NULL OR m.layer = ANY(%(layers)s))
       AND (%(kinds_of)s::text[] IS NULL OR m.kind = ANY(%(kinds_of)s))
),
able AS (SELECT * FROM base WHERE excluded IS NULL),
size AS (SELECT count(*)::float8 AS n, greatest(avg(term_count), 1)::float8 AS average FROM able),
tf AS (
    SELECT a.memory_id, a.term_count, t.term, count(*)::float8 AS tf
      FROM able a, unnest(a.terms) AS t(term)
     WHERE a.terms && %(terms)s AND t.term = ANY(%(terms)s)
     GROUP BY 1, 2, 3
),
df AS (SELECT term, count(*)::float8 AS df FROM tf GROUP BY term),
text AS (
    SELECT tf.memory_id,
           sum(ln(1 + (n - df + 0.5) / (df + 0.5)) * tf * ({_K1} + 1)
               / (tf + {_K1} * (1 - {_B} + {_B} * term_count / average))) AS bm25
      FROM tf JOIN df USING (term) CROSS JOIN size
     GROUP BY 1
),
pool AS (
    (SELECT memory_id FROM text ORDER BY bm25 DESC, memory_id LIMIT %(pool)s)
    UNION
    (SELECT memory_id FROM able WHERE cosine IS NOT NULL ORDER BY cosine DESC, memory_id LIMIT %(pool)s)
),
counts AS (
    SELECT coalesce(jsonb_object_agg(reason, rows), '{{}}') AS counts
      FROM (SELECT excluded AS reason, count(*) AS rows FROM base WHERE excluded IS NOT NULL GROUP BY 1) c
)
SELECT counts.counts, m.id, m.version, m.scope, m.layer, m.kind, m.subject, m.predicate, m.content, m.value_hash,
       m.trust, m.confidence, m.origin, m.agent_name, m.tool, m.session, m.status, m.paths, m.recorded_at,
       m.learned_at, m.pinned_at IS NOT NULL AND coalesce(m.pinned_until > %(now)s, true), text.bm25, able.cosine
  FROM counts
  LEFT JOIN (pool JOIN able USING (memory_id)
             JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = pool.memory_id
             LEFT JOIN text USING (memory_id)) ON true
"""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a retrieval asks for, beside the reach of who asks."""

    terms: Sequence[str]
    vector: Sequence[float] | None
    now: datetime
    min_trust: float
    limit: int
    high_stakes: bool = False
    since: datetime | None = None
    only_scopes: Sequence[str] | None = None
    layers: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    tags: Sequence[str] = ()
    paths: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One row that passed the filters, with its raw scores (None where a side did not find it)."""

    id: UUID
    version: int
    scope: str
    layer: str
    kind: str
    subject: str
    predicate: str
    content: str
    value_hash: bytes
    trust: float
    confidence: float
    origin: str
    agent_name: str
    tool: str
    session: str
    status: str
    paths: list[str]
    recorded_at: datetime
    learned_at: datetime
    pinned: bool
    bm25: float | None
    cosine: float | None

    @property
    def source(self) -> str:
        """Who said it: the agent, and the tool it used."""
        return f"{self.agent_name}/{self.tool}" if self.tool else self.agent_name


def search(reach: Reach, filters: Filters) -> tuple[list[Found], dict[str, int]]:
    """Rows for the fusion, and how many readable rows each filter left out, by reason."""
    parameters: dict[str, Any] = {
        **reach.parameters(filters.only_scopes),
        "vector": HalfVector(list(filters.vector)).to_text() if filters.vector is not None else None,
        "terms": list(filters.terms),
        "now": filters.now,
        "min_trust": filters.min_trust,
        "high_stakes": filters.high_stakes,
        "since": filters.since,
        "layers": list(filters.layers) if filters.layers else None,
        "kinds_of": list(filters.kinds) if filters.kinds else None,
        "tags": list(filters.tags),
        "paths": list(filters.paths),
        "pool": max(_POOL_LEAST, _POOL_FACTOR * filters.limit),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEARCH, parameters)
        rows = cursor.fetchall()
    return list(_found(rows)), json.loads(rows[0][0])


def _found(rows: Sequence[tuple[Any, ...]]) -> Iterator[Found]:
    for row in rows:
        if row[1] is not None:
            columns: list[Any] = [*row[1:9], bytes(row[9]), *row[10:]]
            yield Found(*columns)

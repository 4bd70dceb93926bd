"""What mounts declare to a reader: live, readable, applicable here, in the order of the files.

The same filters as the search, but no query: what is declared is not looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from memory.selectors.globs import AS_LIKE
from memory.selectors.recall import Filters, Found
from memory.selectors.visibility import READABLE_SCOPES, Reach

DECLARED: Final = "declared"
"""The channel of such entries."""

_COLUMNS: Final = (
    "id", "version", "scope", "layer", "kind", "subject", "predicate", "content", "value_hash", "trust",
    "confidence", "origin", "agent_name", "tool", "session", "status", "paths", "recorded_at", "learned_at",
)  # fmt: skip


def _applies(row: str) -> str:
    """That a row with `tags` and `paths` applies to where the reader is."""
    return f"""(cardinality({row}.tags) = 0 OR {row}.tags && %(tags)s) AND (cardinality({row}.paths) = 0 OR EXISTS (
        SELECT FROM unnest({row}.paths) AS glob, unnest(%(paths)s::text[]) AS path WHERE path LIKE {AS_LIKE}))"""


_DECLARED: Final = f"""
WITH scopes AS MATERIALIZED ({READABLE_SCOPES}),
placed AS (
    SELECT DISTINCT ON (e.memory_id) e.memory_id, e.sort_order, t.name, e.place
      FROM memory_mountentry e JOIN memory_mount t ON t.tenant_id = e.tenant_id AND t.id = e.mount_id
     WHERE e.tenant_id = %(tenant)s AND t.tenant_id = %(tenant)s AND {_applies("e")}
     ORDER BY e.memory_id, e.sort_order, t.name, e.place
)
SELECT count(*) OVER (), {", ".join(f"m.{name}" for name in _COLUMNS)},
       m.pinned_at IS NOT NULL AND coalesce(m.pinned_until > %(now)s, true)
  FROM placed p JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = p.memory_id
 WHERE m.status = 'live' AND m.scope IN (SELECT name FROM scopes) AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
   AND m.trust >= %(min_trust)s AND (%(since)s::timestamptz IS NULL OR m.learned_at >= %(since)s)
   AND (%(layers)s::text[] IS NULL OR m.layer = ANY(%(layers)s))
   AND (%(kinds_of)s::text[] IS NULL OR m.kind = ANY(%(kinds_of)s)) AND {_applies("m")}
 ORDER BY p.sort_order, p.name, p.place LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Declared:
    """The first rows up to the limit, and how many there are in all."""

    rows: list[Found]
    total: int

    @property
    def beyond(self) -> int:
        """How many the limit left out."""
        return self.total - len(self.rows)


NOTHING: Final = Declared([], 0)


def declared_found(reach: Reach, filters: Filters) -> Declared:
    """The declared memories that this reader may have here and now.  One query."""
    parameters: dict[str, Any] = {
        **reach.parameters(filters.only_scopes),
        "now": filters.now,
        "min_trust": filters.min_trust,
        "since": filters.since,
        "layers": list(filters.layers) if filters.layers else None,
        "kinds_of": list(filters.kinds) if filters.kinds else None,
        "tags": list(filters.tags),
        "paths": list(filters.paths),
        "limit": filters.limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DECLARED, parameters)
        rows = cursor.fetchall()
    return Declared([_found(row) for row in rows], rows[0][0] if rows else 0)


def _found(row: tuple[Any, ...]) -> Found:
    named = dict(zip(_COLUMNS, row[1:], strict=False))
    named["value_hash"] = bytes(named["value_hash"])
    return Found(**named, pinned=row[-1], bm25=None, cosine=None)

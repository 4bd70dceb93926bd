"""What mounts declare to a reader: live, readable, applicable here, in the order of the files.

The same filters as the search, but no query: what is declared is not looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memory.selectors.globs import AS_LIKE
from memory.selectors.recall import Filters, Found
from memory.selectors.timely import HOLDS
from memory.selectors.visibility import READABLE_SCOPES, Reach

DECLARED: Final = "declared"
"""The channel of such entries."""

_MOST: Final = 1000
_COLUMNS: Final = (
    "id", "version", "scope", "layer", "kind", "subject", "predicate", "content", "value_hash", "trust",
    "confidence", "origin", "agent_name", "tool", "session", "status", "paths", "recorded_at", "learned_at",
)  # fmt: skip


def _applies(row: str) -> str:
    """That a row with `tags` and `paths` applies to where the reader is."""
    return f"""(cardinality({row}.tags) = 0 OR {row}.tags && %(tags)s) AND (cardinality({row}.paths) = 0 OR EXISTS (
        SELECT FROM unnest({row}.paths) AS glob, unnest(%(paths)s::text[]) AS path WHERE path LIKE {AS_LIKE}))"""


# One walk over the memories, whatever the planner believes: it takes a young tenant for an empty one, and would walk
# through all of its memories once per entry if the entries were joined with them.
_DECLARED: Final = f"""
WITH scopes AS MATERIALIZED ({READABLE_SCOPES}),
placed AS MATERIALIZED (
    SELECT array_agg(memory_id ORDER BY sort_order, name, place) AS ids FROM (
        SELECT DISTINCT ON (e.memory_id) e.memory_id, e.sort_order, t.name, e.place
          FROM memory_mountentry e JOIN memory_mount t ON t.tenant_id = e.tenant_id AND t.id = e.mount_id
         WHERE e.tenant_id = %(tenant)s AND t.tenant_id = %(tenant)s AND {_applies("e")}
         ORDER BY e.memory_id, e.sort_order, t.name, e.place) p
),
able AS MATERIALIZED (
    SELECT {", ".join(f"m.{name}" for name in _COLUMNS)},
           m.pinned_at IS NOT NULL AND coalesce(m.pinned_until > %(now)s, true) AS pinned,
           row_number() OVER (ORDER BY array_position((SELECT ids FROM placed), m.id)) AS rank
      FROM memory_memory m
     WHERE m.tenant_id = %(tenant)s AND m.id = ANY((SELECT ids FROM placed)::uuid[]) AND m.status = 'live'
       AND m.scope IN (SELECT name FROM scopes) AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
       AND {HOLDS}
       AND m.trust >= %(min_trust)s AND (%(since)s::timestamptz IS NULL OR m.learned_at >= %(since)s)
       AND (%(layers)s::text[] IS NULL OR m.layer = ANY(%(layers)s))
       AND (%(kinds_of)s::text[] IS NULL OR m.kind = ANY(%(kinds_of)s)) AND {_applies("m")}
)
SELECT CASE WHEN rank = 1 THEN (SELECT array_agg(id) FROM able WHERE rank > %(limit)s) END, able.*
  FROM able WHERE rank <= %(limit)s ORDER BY rank
"""


@dataclass(frozen=True, slots=True)
class Declared:
    """The first rows up to the limit, and the ids of those that it leaves out."""

    rows: list[Found]
    beyond: list[UUID]

    @property
    def ids(self) -> set[UUID]:
        """All of them: what is declared is not looked for as well."""
        return {row.id for row in self.rows}.union(self.beyond)


NOTHING: Final = Declared([], [])


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
        # What is aging is dropped afterwards, and must not stand in the way of what is fresh.
        "limit": _MOST if filters.high_stakes else filters.limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DECLARED, parameters)
        rows = cursor.fetchall()
    return Declared([_found(row) for row in rows], list(rows[0][0] or ()) if rows else [])


def _found(row: tuple[Any, ...]) -> Found:
    named = dict(zip(_COLUMNS, row[1:], strict=False))
    named["value_hash"] = bytes(named["value_hash"])
    return Found(**named, pinned=row[-2])

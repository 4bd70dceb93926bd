"""The re-verify list: readable memories whose review is due, or that are volatile and no longer fresh."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memory.models import Memory
from memory.selectors.health_rows import band_limits, query
from memory.selectors.policies import ActivePolicy
from memory.selectors.scope_rules import KEY_OF
from memory.selectors.timely import HOLDS

SHOWN: Final = 50

# The rule is `memory.domain.freshness.needs_reverify`.
_DUE = f"""
SELECT m.id
  FROM memory_memory m
  JOIN unnest(%(keys)s::text[], %(kinds)s::text[], %(volatile_fresh)s::float8[]) AS r(key, kind, fresh)
    ON r.key = {KEY_OF} AND r.kind = m.kind
 WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
   AND (m.expires_at IS NULL OR m.expires_at > %(now)s) AND {HOLDS}
   AND (m.review_by BETWEEN m.learned_at AND %(now)s
        OR (m.predicate = ANY(%(volatile)s::text[]) AND NOT m.predicate = ANY(%(ageless)s::text[])
            AND extract(epoch FROM %(now)s - m.learned_at) / 86400 > r.fresh))
 ORDER BY m.review_by NULLS LAST, m.learned_at, m.id LIMIT %(limit)s
"""


def due(active: ActivePolicy, now: datetime) -> tuple[list[Memory], bool]:
    """Those that wait longest, and whether there are more."""
    limits = band_limits(active.policy, active.words.registry)
    ids = [row[0] for row in query(_DUE, now, **limits, limit=SHOWN + 1)]
    rows = {row.id: row for row in Memory.objects.filter(id__in=ids[:SHOWN])}
    return [rows[one] for one in ids[:SHOWN]], len(ids) > SHOWN

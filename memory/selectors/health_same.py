"""Readable rows of one scope that say nearly the same: what slipped past the write path.

The rule is `memory.domain.similarity`.  Comparing costs about a millisecond per row, so what was found in a scope is
kept until something in the scope changes, and one measuring looks anew at so many rows at most; the rest waits for
the next one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.core.cache import cache
from django.db import connection

from memory.domain.similarity import block_keys, candidate_pairs, judge
from memory.selectors.timely import HOLDS
from tenants.context import current_tenant_id

MOST_ROWS: Final = 5000
"""Rows that are compared anew in one measuring."""
_KEPT_SECONDS: Final = 30 * 86400

_READABLE = f"""m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
   AND (m.expires_at IS NULL OR m.expires_at > %(now)s) AND {HOLDS}"""
_STATES = f"""
SELECT m.scope, count(*), bit_xor(hashtextextended(m.id::text || '.' || m.version, 0))
  FROM memory_memory m WHERE {_READABLE} GROUP BY m.scope HAVING count(*) > 1
"""
_TEXTS = (
    f"SELECT m.id, m.content FROM memory_memory m WHERE {_READABLE} AND m.scope = %(scope)s ORDER BY m.id"
)

Pairs = list[tuple[UUID, UUID]]


def near_pairs(now: datetime) -> dict[str, Pairs]:
    """By scope, pairs of readable rows that say the same in other words."""
    tenant_id, found, left = current_tenant_id(), dict[str, Pairs](), MOST_ROWS
    with connection.cursor() as cursor:
        cursor.execute(_STATES, {"tenant": tenant_id, "now": now})
        states = {scope: (rows, f"{rows}:{digest}") for scope, rows, digest in cursor.fetchall()}
        keys = {scope: f"health:near:{tenant_id}:{scope}" for scope in states}
        kept = cache.get_many(list(keys.values()))
        # The small first: a scope without a cap must not keep all others from being looked at.
        for scope, (rows, state) in sorted(states.items(), key=lambda one: one[1][0]):
            known, pairs = kept.get(keys[scope], ("", []))
            if known != state and rows <= left:
                left -= rows
                cursor.execute(_TEXTS, {"tenant": tenant_id, "now": now, "scope": scope})
                pairs = _compared(dict(cursor.fetchall()))
                cache.set(keys[scope], (state, pairs), _KEPT_SECONDS)
            found[scope] = pairs
    return found


def _compared(texts: dict[UUID, str]) -> Pairs:
    keys = {one: block_keys(text) for one, text in texts.items()}
    return [
        (a, b)
        for a, b in candidate_pairs(keys)
        if judge(texts[a], texts[b], None, explain=False).verdict == "same"
    ]

"""Volatile facts that lose confidence with age, and what they are left with.

Confidence halves every half life.  It is lowered step by step from the last step (a revision of its own) or
from when the memory was learned, whichever is later: halving composes, so that the result does not depend on
how often the sweep ran.  Pinned memories lose nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection

from memory.domain.policy import Policy
from memory.domain.registry import Registry
from memory.selectors.removal import UNEXPIRED, UNPINNED
from memory.selectors.scope_rules import KEY_OF, columns
from tenants.context import current_tenant_id

AGED = "memory.aged"

# Smaller losses wait, or every sweep would make a revision of every volatile memory.
LEAST_LOSS = 0.05

_VOLATILE = f"""
  FROM memory_memory m
  JOIN unnest(%(keys)s::text[], %(half_life)s::float8[]) AS r(key, half_life) ON r.key = {KEY_OF}
  JOIN unnest(%(predicates)s::text[], %(own_half_life)s::float8[]) AS v(predicate, half_life)
    ON v.predicate = m.predicate
  CROSS JOIN LATERAL (
      SELECT greatest(m.learned_at, max(s.at)) AS since FROM memory_revision s
       WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.id AND s.event = '{AGED}'
  ) last
  CROSS JOIN LATERAL (
      SELECT CASE WHEN m.confidence < {LEAST_LOSS} THEN m.confidence ELSE m.confidence * power(0.5::float8, least(100,
          greatest(extract(epoch FROM %(now)s - last.since)::float8 / 86400, 0) / coalesce(v.half_life, r.half_life))
      ) END AS score
  ) s
 WHERE m.tenant_id = %(tenant)s AND m.id > %(after)s AND m.status IN ('live', 'contested')
   AND {UNPINNED} AND {UNEXPIRED} AND m.confidence - s.score >= {LEAST_LOSS}
"""
PICK_STALE = f"""
SELECT m.id, m.confidence::text AS was, s.score {_VOLATILE}
 ORDER BY m.id LIMIT %(batch)s FOR UPDATE OF m SKIP LOCKED
"""


def stale_parameters(policy: Policy, now: datetime, registry: Registry) -> dict[str, Any]:
    """Parameters of `PICK_STALE`: half lives per scope, and the volatile predicates with their own."""
    volatile = [rule for rule in registry.rules() if rule.volatile]
    return {
        "now": now,
        "predicates": [rule.name for rule in volatile],
        "own_half_life": [rule.half_life_days for rule in volatile],
        **columns(policy, {"half_life": lambda p: p.decay.volatile_half_life_days}),
    }


def count_stale(policy: Policy, now: datetime, after: Any, registry: Registry) -> int:
    """Rows whose confidence the staleness sweep would lower."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) {_VOLATILE}",
            {**stale_parameters(policy, now, registry), "after": after, "tenant": current_tenant_id()},
        )
        return int(cursor.fetchone()[0])

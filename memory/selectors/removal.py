"""What the sweeps would take: expired rows, faded rows, rows over a scope's cap.

A `PICK_…` is the first part of a set-based statement of `memory.store.bulk`: it locks and returns rows of
(id, was, score).  Rows that somebody else holds are skipped: they are that one's, or the next run's.  A
contested memory awaits a person, so that only `live` ones fade or go over the cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from memory.domain.lifecycle import SOURCES, Event
from memory.domain.policy import Policy
from memory.selectors.scope_rules import KEY_OF, columns
from tenants.context import current_tenant_id

UNPINNED = "(m.pinned_at IS NULL OR m.pinned_until <= %(now)s)"
# What a mount declares stays as long as its file says so, used or not.
UNMOUNTED = """NOT EXISTS (SELECT FROM memory_mountentry e
                           WHERE e.tenant_id = %(tenant)s AND e.memory_id = m.id)"""
UNEXPIRED = "(m.expires_at IS NULL OR m.expires_at > %(now)s)"

# `memory.domain.decay.decay_score`.  The database refuses a product that is too small for a number, and one such
# row would stop the sweep of its tenant: the exponent is bounded, and what no floor can tell from 0 is 0.
# A memory that came back counts as touched then, or the next sweep would take it away again; and what begins later is
# touched by its beginning, or it would have faded before anybody could get it.
DECAY_SCORE = """CASE WHEN m.confidence < 1e-9 THEN 0 ELSE m.confidence * (
    (%(recency)s::float8[])[rule.place] * exp(-least(100, greatest(0,
        extract(epoch FROM %(now)s - greatest(m.last_used_at, m.learned_at, m.status_changed_at, m.valid_from))::float8
        / 86400)
        / (%(scale)s::float8[])[rule.place]))
    + (%(use)s::float8[])[rule.place] * ln(1 + greatest(m.use_count, 0)::float8)
        / (%(divisor)s::float8[])[rule.place]) END"""
BELOW_FLOOR = f"""m.status = 'live' AND {UNPINNED} AND {UNEXPIRED}
    AND {DECAY_SCORE} < (%(floor)s::float8[])[rule.place] AND {UNMOUNTED}"""
_RULE = f"CROSS JOIN LATERAL (SELECT array_position(%(keys)s::text[], {KEY_OF}) AS place) rule"

# What says of itself that it is true no more ends like what expires, unless it waits for a person.
_OVER = """(m.status = ANY(%(sources)s) AND m.expires_at <= %(now)s
    OR m.status IN ('live', 'contested') AND m.valid_to <= %(now)s)"""
PICK_EXPIRED = f"""
SELECT m.id, m.status AS was, NULL::float8 AS score
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND {_OVER}
 LIMIT %(batch)s FOR UPDATE OF m SKIP LOCKED
"""

# Read along the primary key from where the last batch ended: nothing else in the condition has an index that
# could tempt the planner, so that all batches together read the tenant once.
# OFFSET 0 keeps the score from being computed once for the condition and once for the answer.
PICK_FADED = f"""
SELECT m.id, m.status AS was, faded.score
  FROM memory_memory m
  CROSS JOIN LATERAL (
      SELECT CASE WHEN m.status = 'live' AND {UNPINNED} AND {UNEXPIRED} THEN {DECAY_SCORE} END AS score,
             (%(floor)s::float8[])[rule.place] AS floor
        FROM (SELECT array_position(%(keys)s::text[], {KEY_OF}) AS place OFFSET 0) rule OFFSET 0) faded
 WHERE m.tenant_id = %(tenant)s AND m.id > %(after)s
   AND CASE WHEN faded.score < faded.floor THEN {UNMOUNTED} ELSE false END
   AND m.scope <> ALL(%(stopped)s::text[])
 ORDER BY m.id LIMIT %(batch)s FOR UPDATE OF m SKIP LOCKED
"""

PICK_WEAKEST = f"""
SELECT m.id, m.status AS was, m.confidence AS score
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.scope = %(scope)s AND m.status = 'live' AND {UNPINNED} AND {UNEXPIRED}
   AND {UNMOUNTED}
 ORDER BY m.confidence, m.learned_at, m.id LIMIT %(batch)s FOR UPDATE OF m SKIP LOCKED
"""

_FADED_BY_SCOPE = f"""
SELECT m.scope, count(*), count(*) FILTER (WHERE {BELOW_FLOOR})
  FROM memory_memory m {_RULE}
 WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested') AND {UNEXPIRED}
 GROUP BY m.scope
"""

_LIVE_BY_SCOPE = f"""
SELECT m.scope, count(*), count(*) FILTER (WHERE m.status = 'live' AND {UNPINNED} AND {UNMOUNTED})
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested') AND {UNEXPIRED}
 GROUP BY m.scope HAVING count(*) > %(least)s
"""


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """A scope, its readable rows, and how many of them a sweep could take."""

    scope: str
    live: int
    removable: int


def expired_parameters(now: datetime) -> dict[str, Any]:
    """Parameters of `PICK_EXPIRED`."""
    return {"now": now, "sources": sorted(map(str, SOURCES[Event.EXPIRE]))}


def count_expired(now: datetime) -> int:
    """Rows that the expiry sweep would take."""
    sql = f"SELECT count(*) FROM memory_memory m WHERE m.tenant_id = %(tenant)s AND {_OVER}"
    return int(_rows(sql, expired_parameters(now))[0][0])


def decay_parameters(policy: Policy, now: datetime) -> dict[str, Any]:
    """Parameters of the decay score and its floor, per scope."""
    numbers = {
        "recency": lambda p: p.decay.recency_weight, "use": lambda p: p.decay.use_weight,
        "scale": lambda p: p.decay.idle_days_scale, "divisor": lambda p: p.decay.use_divisor,
        "floor": lambda p: p.decay.floor,
    }  # fmt: skip
    return {"now": now, **columns(policy, numbers)}


def faded_by_scope(policy: Policy, now: datetime) -> list[ScopeCount]:
    """Every scope with readable rows, and how many of them have decayed below the floor."""
    return [ScopeCount(*row) for row in _rows(_FADED_BY_SCOPE, decay_parameters(policy, now))]


def live_by_scope(least: int, now: datetime) -> list[ScopeCount]:
    """Scopes with more than `least` readable rows, and how many of those are free to be archived."""
    return [ScopeCount(*row) for row in _rows(_LIVE_BY_SCOPE, {"now": now, "least": least})]


def live_in(scope: str, now: datetime) -> int:
    """Readable rows of one scope."""
    sql = f"""SELECT count(*) FROM memory_memory m WHERE m.tenant_id = %(tenant)s AND m.scope = %(scope)s
                 AND m.status IN ('live', 'contested') AND {UNEXPIRED}"""
    return int(_rows(sql, {"now": now, "scope": scope})[0][0])


def _rows(sql: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**parameters, "tenant": current_tenant_id()})
        return cursor.fetchall()

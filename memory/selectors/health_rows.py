"""Health figures that come from the stored memories: what lives, what is double, what clashes, what waits.

Each function gives values by scope; the key '' is the whole tenant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from memory.domain.health import share
from memory.domain.policy import Policy
from memory.domain.policy_keep_rules import BandDays
from memory.domain.registry import Registry
from memory.domain.similarity import cluster
from memory.domain.types import Kind
from memory.selectors.health_same import near_pairs
from memory.selectors.scope_rules import KEY_OF, policies_by_key
from memory.selectors.timely import HOLDS
from tenants.context import current_tenant_id

Figures = dict[str, float | None]
ByScope = dict[str, Figures]
ALL = ""

_READABLE = f"""m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
   AND (m.expires_at IS NULL OR m.expires_at > %(now)s) AND {HOLDS}"""

_ROWS = f"""
WITH rows AS (
    SELECT m.scope, coalesce(m.expires_at <= %(now)s, false) AS over,
           (m.expires_at IS NULL OR m.expires_at > %(now)s) AND {HOLDS} AS given,
           CASE WHEN m.predicate = ANY(%(ageless)s::text[]) THEN 'fresh'
                WHEN a.days <= CASE WHEN v.volatile THEN r.volatile_fresh ELSE r.fresh END THEN 'fresh'
                WHEN a.days <= CASE WHEN v.volatile THEN r.volatile_aging ELSE r.aging END THEN 'aging'
                ELSE 'outdated' END AS band,
           m.use_count = 0 AS unused,
           coalesce(m.review_by BETWEEN m.learned_at AND %(now)s, false)
             OR (v.volatile AND NOT m.predicate = ANY(%(ageless)s::text[]) AND a.days > r.volatile_fresh) AS doubtful,
           i.memory_id IS NULL OR (%(model)s::text IS NOT NULL
                AND (i.embedding IS NULL OR i.model_id <> %(model)s)) AS unindexed
      FROM memory_memory m
      JOIN unnest(%(keys)s::text[], %(kinds)s::text[], %(fresh)s::float8[], %(aging)s::float8[],
                  %(volatile_fresh)s::float8[], %(volatile_aging)s::float8[])
        AS r(key, kind, fresh, aging, volatile_fresh, volatile_aging) ON r.key = {KEY_OF} AND r.kind = m.kind
     CROSS JOIN LATERAL (SELECT extract(epoch FROM %(now)s - m.learned_at)::float8 / 86400 AS days) a
     CROSS JOIN LATERAL (SELECT m.predicate = ANY(%(volatile)s::text[]) AS volatile) v
      LEFT JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.tenant_id = %(tenant)s AND i.memory_id = m.id
     WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
)
SELECT coalesce(scope, ''), count(*), count(*) FILTER (WHERE over), count(*) FILTER (WHERE given),
       count(*) FILTER (WHERE given AND band = 'fresh'), count(*) FILTER (WHERE given AND band = 'aging'),
       count(*) FILTER (WHERE given AND band = 'outdated'), count(*) FILTER (WHERE given AND unused),
       count(*) FILTER (WHERE given AND doubtful), count(*) FILTER (WHERE given AND unindexed)
  FROM rows GROUP BY GROUPING SETS ((scope), ())
"""

# The same text, or the same value of the same key as its rule compares values.
_SAME = f"""
SELECT m.scope, array_agg(m.id) FROM memory_memory m
 WHERE {_READABLE} GROUP BY m.scope, md5(lower(btrim(m.content))) HAVING count(*) > 1
 UNION ALL
SELECT m.scope, array_agg(m.id) FROM memory_memory m
 WHERE {_READABLE} GROUP BY m.scope, m.subject, m.predicate, m.value_hash HAVING count(*) > 1
"""
_SAID_TO_BE_SAME = f"""
SELECT c.scope, ARRAY[c.memory_a, c.memory_b] FROM memory_contradiction c
 WHERE c.tenant_id = %(tenant)s AND c.status = 'open' AND c.kind = 'merge'
   AND 2 = (SELECT count(*) FROM memory_memory m WHERE {_READABLE} AND m.id IN (c.memory_a, c.memory_b))
"""
# Keys by subject and predicate, and plain sentences that give one attribute of one subject.
_CLASHES = f"""
SELECT m.scope FROM memory_memory m WHERE {_READABLE} AND m.single_valued
 GROUP BY m.scope, m.subject, m.predicate HAVING count(DISTINCT m.value_hash) > 1
 UNION ALL
SELECT m.scope FROM memory_memory m WHERE {_READABLE} AND m.claim <> ''
 GROUP BY m.scope, m.claim HAVING count(DISTINCT m.value_hash) > 1
 UNION ALL
SELECT c.scope FROM memory_contradiction c
 WHERE c.tenant_id = %(tenant)s AND c.status = 'open' AND c.kind = 'conflict'
"""
_CLASHES_UNQUEUED = f"""
SELECT count(*) FROM (
    SELECT array_agg(m.id) AS ids FROM memory_memory m WHERE {_READABLE} AND m.single_valued
     GROUP BY m.scope, m.subject, m.predicate HAVING count(DISTINCT m.value_hash) > 1) clash
 WHERE NOT EXISTS (SELECT FROM memory_contradiction c
                    WHERE c.tenant_id = %(tenant)s AND c.status = 'open'
                      AND (c.memory_a = ANY(clash.ids) OR c.memory_b = ANY(clash.ids)))
"""
_WAITING = """
SELECT coalesce(scope, ''), extract(epoch FROM %(now)s - min(since))::float8 / 86400
  FROM (SELECT p.from_scope AS scope, p.created_at AS since FROM memory_promotionrequest p
         WHERE p.tenant_id = %(tenant)s AND p.status = 'pending'
         UNION ALL
        SELECT c.scope, c.created_at FROM memory_contradiction c WHERE c.tenant_id = %(tenant)s AND c.status = 'open'
         UNION ALL
        SELECT m.scope, m.status_changed_at FROM memory_memory m
         WHERE m.tenant_id = %(tenant)s AND m.status IN ('candidate', 'quarantined')
           AND (m.expires_at IS NULL OR m.expires_at > %(now)s)) waiting
 GROUP BY GROUPING SETS ((scope), ()) HAVING count(*) > 0
"""


# Readable rows that no manifest of the time gave to anybody.
_UNGIVEN = f"""
SELECT coalesce(m.scope, ''), count(*) FROM memory_memory m
 WHERE {_READABLE} AND NOT EXISTS (
       SELECT FROM memory_manifestentry e
        WHERE e.tenant_id = %(tenant)s AND e.memory_id = m.id AND e.manifest_id >= memgov.id_floor(%(since)s))
 GROUP BY GROUPING SETS ((m.scope), ())
"""
GIVEN_WITHIN = timedelta(days=30)


def stored(policy: Policy, registry: Registry, now: datetime, model: str | None) -> ByScope:
    """Live facts and their bands, what is past its time, and rows without a vector of `model` (None: no vectors)."""
    found: ByScope = {}
    limits = band_limits(policy, registry)
    for scope, rows, over, given, fresh, aging, outdated, unused, doubtful, unindexed in query(
        _ROWS, now, **limits, model=model
    ):
        found[scope] = {
            "live_facts": given,
            "fresh": fresh,
            "aging": aging,
            "outdated": outdated,
            "never_used": unused,
            "to_verify": doubtful,
            "expired_not_cleaned": share(over, rows),
            "stale_share": share(outdated, given),
            "unindexed_rows": unindexed,
        }
    return found


def ungiven(now: datetime) -> dict[str, int]:
    """Readable rows that nobody was given in the last 30 days."""
    return dict(query(_UNGIVEN, now, since=now - GIVEN_WITHIN))


def same_pairs(now: datetime) -> dict[str, list[tuple[UUID, UUID]]]:
    """By scope, pairs of readable rows that say the same, exactly or nearly."""
    pairs: dict[str, list[tuple[UUID, UUID]]] = defaultdict(list)
    for scope, ids in query(_SAME, now):
        pairs[scope] += [(ids[0], other) for other in ids[1:]]
    for scope, near in near_pairs(now).items():
        pairs[scope] += near
    return pairs


def duplicate_groups(now: datetime) -> dict[str, int]:
    """Clusters of readable rows of one scope that say the same: exactly, nearly, or held for review as such."""
    pairs = same_pairs(now)
    for scope, ids in query(_SAID_TO_BE_SAME, now):
        pairs[scope].append((ids[0], ids[1]))
    counts = {scope: len(cluster(links)) for scope, links in pairs.items() if links}
    return {**counts, ALL: sum(counts.values())}


def contradictions(now: datetime) -> dict[str, int]:
    """Single-valued keys with several readable values, and open conflicts."""
    counts = Counter(scope for (scope,) in query(_CLASHES, now))
    return {**counts, ALL: counts.total()}


def clashes_unqueued(now: datetime) -> int:
    """Keys with several readable values that are before nobody."""
    return int(query(_CLASHES_UNQUEUED, now)[0][0])


def queue_ages(now: datetime) -> dict[str, float]:
    """Days that the oldest item awaiting a person has waited; scopes where nothing waits are not in it."""
    return dict(query(_WAITING, now))


def query(sql: str, now: datetime, **parameters: Any) -> list[tuple[Any, ...]]:
    """Rows of one statement for the current tenant at an instant."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": current_tenant_id(), "now": now, **parameters})
        return cursor.fetchall()


def band_limits(policy: Policy, registry: Registry) -> dict[str, Any]:
    """Up to how many days a row is fresh and aging, by scope and kind; the rule is `memory.domain.freshness`."""
    rows = [
        (key, kind.value, bands.fresh_days, bands.aging_days, volatile.fresh_days, volatile.aging_days)
        for key, one in policies_by_key(policy).items()
        for kind in Kind
        for bands, volatile in [(one.freshness.bands.get(kind, BandDays()), one.freshness.volatile)]
    ]
    keys, kinds, *days = (list(column) for column in zip(*rows, strict=True))
    names = ("fresh", "aging", "volatile_fresh", "volatile_aging")
    return {
        "keys": keys,
        "kinds": kinds,
        **{name: [float(day) for day in column] for name, column in zip(names, days, strict=True)},
        "named": [key for key in set(keys) if ":" in key],
        "ageless": [rule.name for rule in registry.rules() if not rule.ages],
        "volatile": [rule.name for rule in registry.rules() if rule.volatile],
    }

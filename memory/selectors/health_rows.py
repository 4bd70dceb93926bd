"""Health figures that come from the stored memories: what lives, what is double, what clashes, what waits.

Each function gives values by scope; the key '' is the whole tenant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memory.domain.health import share
from memory.domain.policy import Policy
from memory.domain.policy_keep_rules import BandDays
from memory.domain.registry import BUILT_IN
from memory.domain.types import Kind
from memory.selectors.scope_rules import KEY_OF, policies_by_key
from tenants.context import current_tenant_id

Figures = dict[str, float | None]
ByScope = dict[str, Figures]
ALL = ""

_READABLE = """m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
   AND (m.expires_at IS NULL OR m.expires_at > %(now)s)"""

_ROWS = f"""
WITH rows AS (
    SELECT m.scope, coalesce(m.expires_at <= %(now)s, false) AS over,
           CASE WHEN m.predicate = ANY(%(ageless)s::text[]) THEN false
                ELSE extract(epoch FROM %(now)s - m.learned_at)::float8 / 86400 > (
                     CASE WHEN m.predicate = ANY(%(volatile)s::text[]) THEN r.volatile_days ELSE r.days END)
           END AS outdated,
           i.memory_id IS NULL OR (%(model)s::text IS NOT NULL
                AND (i.embedding IS NULL OR i.model_id <> %(model)s)) AS unindexed
      FROM memory_memory m
      JOIN unnest(%(keys)s::text[], %(kinds)s::text[], %(days)s::float8[], %(volatile_days)s::float8[])
        AS r(key, kind, days, volatile_days) ON r.key = {KEY_OF} AND r.kind = m.kind
      LEFT JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.tenant_id = %(tenant)s AND i.memory_id = m.id
     WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested')
)
SELECT coalesce(scope, ''), count(*), count(*) FILTER (WHERE over), count(*) FILTER (WHERE NOT over AND outdated),
       count(*) FILTER (WHERE NOT over AND unindexed)
  FROM rows GROUP BY GROUPING SETS ((scope), ())
"""

_SAME_TEXT = f"""
SELECT m.scope, array_agg(m.id) FROM memory_memory m
 WHERE {_READABLE} GROUP BY m.scope, md5(lower(btrim(m.content))) HAVING count(*) > 1
"""
_SAID_TO_BE_SAME = f"""
SELECT c.scope, ARRAY[c.memory_a, c.memory_b] FROM memory_contradiction c
 WHERE c.tenant_id = %(tenant)s AND c.status = 'open' AND c.kind = 'merge'
   AND 2 = (SELECT count(*) FROM memory_memory m WHERE {_READABLE} AND m.id IN (c.memory_a, c.memory_b))
"""
_CLASHES = f"""
SELECT m.scope FROM memory_memory m WHERE {_READABLE} AND m.single_valued
 GROUP BY m.scope, m.subject, m.predicate HAVING count(DISTINCT m.value_hash) > 1
 UNION ALL
SELECT c.scope FROM memory_contradiction c
 WHERE c.tenant_id = %(tenant)s AND c.status = 'open' AND c.kind = 'conflict'
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


def stored(policy: Policy, now: datetime, model: str | None) -> ByScope:
    """Live facts, what is past its time, stale share, and rows without a vector of `model` (None: no vectors)."""
    found: ByScope = {}
    for scope, rows, over, outdated, unindexed in query(_ROWS, now, **_band_limits(policy), model=model):
        found[scope] = {
            "live_facts": rows - over,
            "expired_not_cleaned": share(over, rows),
            "stale_share": share(outdated, rows - over),
            "unindexed_rows": unindexed,
        }
    return found


def duplicate_groups(now: datetime) -> dict[str, int]:
    """Clusters of readable rows of one scope with the same text, or held for review as the same."""
    pairs: dict[str, list[list[UUID]]] = defaultdict(list)
    for sql in (_SAME_TEXT, _SAID_TO_BE_SAME):
        for scope, ids in query(sql, now):
            pairs[scope].append(ids)
    counts = {scope: _clusters(links) for scope, links in pairs.items()}
    return {**counts, ALL: sum(counts.values())}


def contradictions(now: datetime) -> dict[str, int]:
    """Single-valued keys with several readable values, and open conflicts."""
    counts = Counter(scope for (scope,) in query(_CLASHES, now))
    return {**counts, ALL: counts.total()}


def queue_ages(now: datetime) -> dict[str, float]:
    """Days that the oldest item awaiting a person has waited; scopes where nothing waits are not in it."""
    return dict(query(_WAITING, now))


def query(sql: str, now: datetime, **parameters: Any) -> list[tuple[Any, ...]]:
    """Rows of one statement for the current tenant at an instant."""
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": current_tenant_id(), "now": now, **parameters})
        return cursor.fetchall()


def _band_limits(policy: Policy) -> dict[str, Any]:
    """After how many days a row is outdated, by scope and kind; the rule is `memory.domain.freshness`."""
    rows = [
        (
            key,
            kind.value,
            float(one.freshness.bands.get(kind, BandDays()).aging_days),
            float(one.freshness.volatile.aging_days),
        )
        for key, one in policies_by_key(policy).items()
        for kind in Kind
    ]
    keys, kinds, days, volatile_days = (list(column) for column in zip(*rows, strict=True))
    return {
        "keys": keys, "kinds": kinds, "days": days, "volatile_days": volatile_days,
        "named": [key for key in set(keys) if ":" in key],
        "ageless": [rule.name for rule in BUILT_IN if not rule.ages],
        "volatile": [rule.name for rule in BUILT_IN if rule.volatile],
    }  # fmt: skip


def _clusters(links: Iterable[list[UUID]]) -> int:
    """How many groups the links make, when links that share a member are one group."""
    groups: list[set[UUID]] = []
    for link in links:
        joined = set(link)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return len(groups)

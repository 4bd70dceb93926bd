"""Health figures that come from what happened: reads and reports, writes, evictions and restores.

Each function gives values by scope; the key '' is the whole tenant.  They look back over a window, so that one
quiet hour is not a gap.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from memory.domain.health import share
from memory.selectors import leaks
from memory.selectors.health_rows import ALL, ByScope, query

RATES = timedelta(days=7)
LEAKS = timedelta(days=30)
EVICTIONS = timedelta(days=90)

PER_READ = ("injected_mean", "injected_p95", "injected_tokens_mean", "injected_tokens_p95")

# The month of a manifest is that of its id: the bound on it leaves older months unread.
_READS = """
SELECT count(*), count(usage_reported_at), avg(entry_count) FILTER (WHERE kind = 'retrieve')::float8,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY entry_count) FILTER (WHERE kind = 'retrieve'),
       avg(tokens) FILTER (WHERE kind = 'retrieve')::float8,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE kind = 'retrieve')
  FROM memory_manifest
 WHERE tenant_id = %(tenant)s AND at > %(since)s AND at <= %(now)s AND id >= memgov.id_floor(%(since)s)
"""
_ENTRIES = """
WITH given AS (
    SELECT m.id, e.scope, count(*) AS entries, m.tokens, m.kind = 'retrieve' AS retrieved,
           m.usage_reported_at IS NOT NULL AS reported, count(e.used_at) AS used
      FROM memory_manifest m JOIN memory_manifestentry e ON e.tenant_id = m.tenant_id AND e.manifest_id = m.id
     WHERE m.tenant_id = %(tenant)s AND e.tenant_id = %(tenant)s AND m.at > %(since)s AND m.at <= %(now)s
       AND m.id >= memgov.id_floor(%(since)s) AND e.manifest_id >= memgov.id_floor(%(since)s)
     GROUP BY m.id, e.scope, m.tokens, m.kind, m.usage_reported_at
)
SELECT scope, sum(entries) FILTER (WHERE reported)::float8, sum(used) FILTER (WHERE reported)::float8,
       count(*), count(*) FILTER (WHERE reported),
       avg(entries) FILTER (WHERE retrieved)::float8,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY entries) FILTER (WHERE retrieved),
       avg(tokens) FILTER (WHERE retrieved)::float8,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY tokens) FILTER (WHERE retrieved)
  FROM given GROUP BY scope
"""
_SOURCES = """
SELECT coalesce(scope, ''), max(rows)::float8 / sum(rows)::float8
  FROM (SELECT e.scope, r.agent_name, r.tool, count(*) AS rows
          FROM memory_manifest m
          JOIN memory_manifestentry e ON e.tenant_id = m.tenant_id AND e.manifest_id = m.id
          JOIN memory_memory r ON r.tenant_id = e.tenant_id AND r.id = e.memory_id
         WHERE m.tenant_id = %(tenant)s AND e.tenant_id = %(tenant)s AND r.tenant_id = %(tenant)s
           AND m.at > %(since)s AND m.at <= %(now)s
           AND m.id >= memgov.id_floor(%(since)s) AND e.manifest_id >= memgov.id_floor(%(since)s)
         GROUP BY GROUPING SETS ((e.scope, r.agent_name, r.tool), (r.agent_name, r.tool))) s
 GROUP BY scope
"""
_WRITES = """
SELECT coalesce(scope, ''), count(*),
       count(*) FILTER (WHERE outcome = 'held' AND reason NOT IN ('conflict', 'contested')),
       count(*) FILTER (WHERE outcome = 'echo')
  FROM memory_writedecision WHERE tenant_id = %(tenant)s AND at > %(since)s AND at <= %(now)s
 GROUP BY GROUPING SETS ((scope), ())
"""
_REGRET = """
SELECT coalesce(scope, ''), count(*), count(*) FILTER (WHERE restored)
  FROM (SELECT e.scope, EXISTS (
            SELECT FROM memory_auditevent r
             WHERE r.tenant_id = e.tenant_id AND r.target_id = e.target_id AND r.action = 'memory.restored'
               AND r.seq > e.seq AND r.before->>'status' = 'evicted') AS restored
          FROM memory_auditevent e
         WHERE e.tenant_id = %(tenant)s AND e.action = 'memory.evicted' AND e.at > %(since)s AND e.at <= %(now)s) x
 GROUP BY GROUPING SETS ((scope), ())
"""


def reads(now: datetime) -> ByScope:
    """Hit rate and its coverage, injected per retrieval.

    Of a scope: over the manifests that gave any of its entries, its own entries, and the tokens of the whole text.
    """
    since = now - RATES
    found: ByScope = {}
    all_given = all_used = 0.0
    for scope, given, used, manifests, reported, *per_read in query(_ENTRIES, now, since=since):
        found[scope] = dict(zip(PER_READ, per_read, strict=True)) | {
            "hit_rate": share(used or 0, given or 0),
            "usage_coverage": share(reported, manifests),
        }
        all_given, all_used = all_given + (given or 0), all_used + (used or 0)
    manifests, reported, *per_read = query(_READS, now, since=since)[0]
    found[ALL] = dict(zip(PER_READ, per_read, strict=True)) | {
        "hit_rate": share(all_used, all_given),
        "usage_coverage": share(reported, manifests),
    }
    return found


def top_sources(now: datetime) -> dict[str, float]:
    """Part of the injected entries that came from the one source that gave most."""
    return dict(query(_SOURCES, now, since=now - RATES))


def writes(now: datetime) -> ByScope:
    """Parts of the writes that were quarantined and that were echoes."""
    return {
        scope: {"quarantine_rate": share(held, rows), "echo_rate": share(echoes, rows)}
        for scope, rows, held, echoes in query(_WRITES, now, since=now - RATES)
    }


def regret(now: datetime) -> dict[str, float | None]:
    """Evictions that were taken back ÷ evictions."""
    return {
        scope: share(restored, rows) for scope, rows, restored in query(_REGRET, now, since=now - EVICTIONS)
    }


def leak_counts(now: datetime) -> dict[str, int]:
    """Entries that their reader could not read, by scope."""
    found = leaks.leaks(now - LEAKS, now)
    counts = Counter(scope for _, _, scope in found)
    return {**counts, ALL: len({(manifest, memory) for manifest, memory, _ in found})}

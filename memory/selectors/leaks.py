"""The leak audit: injected entries whose scope the reading agent could not read, re-checked from the grants.

Shares no code with retrieval on purpose: a fault there must not hide itself here.  An agent may read its own
role's scope, `shared`, `global`, the sessions and tasks that it owns, and what a grant covers.  A grant counts
if its row was there before the read, or if the audit says that it stood at that moment (it may be gone since).
The scope is judged twice: as the manifest says, and as the injected version of the memory says.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection

from tenants.context import current_tenant_id

# Does `pattern` cover `scope`?  `*`, `kind:*` or the scope itself.
_COVERS = "{pattern} IN ('*', {scope}, split_part({scope}, ':', 1) || ':*')"

_READS = """
WITH given AS (
    SELECT e.manifest_id, e.memory_id, m.at, m.agent_id, m.agent_role, e.scope, s.scope AS judged
      FROM memory_manifest m
      JOIN memory_manifestentry e ON e.tenant_id = m.tenant_id AND e.manifest_id = m.id
      LEFT JOIN memory_revision v
        ON v.tenant_id = e.tenant_id AND v.memory_id = e.memory_id AND v.version = e.version
      CROSS JOIN LATERAL (SELECT DISTINCT unnest(ARRAY[e.scope, coalesce(v.state->>'scope', e.scope)]) AS scope) s
     WHERE m.tenant_id = %(tenant)s AND e.tenant_id = %(tenant)s AND m.agent_id IS NOT NULL
       AND m.at > %(since)s AND m.at <= %(now)s
       AND m.id >= memgov.id_floor(%(since)s) AND e.manifest_id >= memgov.id_floor(%(since)s)
)"""

_UNOWNED = """
       g.judged NOT IN ('shared', 'global', 'agent:' || g.agent_role)
   AND NOT EXISTS (
       SELECT FROM memory_scoperecord o
        WHERE o.tenant_id = %(tenant)s AND o.name = g.judged AND o.kind IN ('session', 'task')
          AND o.owner_agent_id = g.agent_id)"""

_GRANTED = f"""
       SELECT FROM tenants_grant r
        WHERE r.tenant_id = %(tenant)s AND (r.agent_id = g.agent_id OR r.agent_role = g.agent_role)
          AND 'read' = ANY(r.verbs) AND r.created_at <= g.at
          AND {_COVERS.format(pattern="r.pattern", scope="g.judged")}"""

# The last word of the audit, before the read, on a pattern of this agent or of its role.
_STOOD = f"""
       SELECT FROM (
           SELECT DISTINCT ON (a.target_id, a.after->>'pattern') a.action, a.after
             FROM memory_auditevent a
            WHERE a.tenant_id = %(tenant)s AND a.action IN ('grant.added', 'grant.removed') AND a.at <= g.at
              AND a.target_id IN ('agt_' || replace(g.agent_id::text, '-', ''), g.agent_role)
              AND {_COVERS.format(pattern="a.after->>'pattern'", scope="g.judged")}
            ORDER BY a.target_id, a.after->>'pattern', a.seq DESC
       ) said
        WHERE said.action = 'grant.added' AND said.after->'verbs' ? 'read'"""

# First by (agent, role, scope), of which there are few; only those not clear from the start are looked at singly.
_LEAKS = f"""{_READS},
suspects AS MATERIALIZED (
    SELECT g.agent_id, g.agent_role, g.judged
      FROM (SELECT agent_id, agent_role, judged, min(at) AS at FROM given GROUP BY 1, 2, 3) g
     WHERE {_UNOWNED} AND NOT EXISTS ({_GRANTED})
),
doubtful AS MATERIALIZED (SELECT g.* FROM given g JOIN suspects USING (agent_id, agent_role, judged))
SELECT DISTINCT g.manifest_id, g.memory_id, g.judged
  FROM doubtful g
 WHERE NOT EXISTS ({_GRANTED}) AND NOT EXISTS ({_STOOD})
 ORDER BY g.manifest_id, g.memory_id, g.judged
"""


def leaks(since: datetime, now: datetime) -> list[tuple[UUID, UUID, str]]:
    """Leaked entries of the reads after `since`: (manifest, memory, scope that was not readable)."""
    with connection.cursor() as cursor:
        cursor.execute(_LEAKS, {"tenant": current_tenant_id(), "since": since, "now": now})
        return cursor.fetchall()

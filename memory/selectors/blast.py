"""The blast radius: what a seed wrote, what was derived from that at any depth, and how far all of it got.

Every question begins with the same recursive set.  Its recursion joins ids that it has not met before, so that
memories that name each other as their source do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memory.domain.blast import Seed
from memory.domain.lifecycle import READABLE, SOURCES, Event
from tenants.context import current_tenant_id

HOLDABLE: Final = sorted(map(str, SOURCES[Event.QUARANTINE]))
"""Statuses that a quarantine takes."""
MOST: Final = 50

# What is derived has an index of its own (`derived_rows`): a tenant's plain memories are not read for it.
_TOUCHED: Final = """
WITH RECURSIVE edges AS MATERIALIZED (
    SELECT m.id AS child, p.parent
      FROM memory_memory m CROSS JOIN LATERAL unnest(m.derived_from) AS p(parent)
     WHERE m.tenant_id = %(tenant)s AND NOT (m.derived_from = '{{}}') AND m.recorded_at <= %(seen)s
),
seeds AS MATERIALIZED (
    SELECT m.id FROM memory_memory m
     WHERE m.tenant_id = %(tenant)s AND m.recorded_at <= %(seen)s AND {conditions}
),
reached(id) AS (SELECT id FROM seeds UNION SELECT e.child FROM edges e JOIN reached r ON r.id = e.parent),
touched AS MATERIALIZED (SELECT r.id, s.id IS NOT NULL AS written FROM reached r LEFT JOIN seeds s ON s.id = r.id)
"""
_CONDITIONS: Final = {
    "memory": "m.id = %(memory)s",
    "agent": "m.agent_id = %(agent)s",
    # A key belongs to one agent, whose memories have an index.
    "key": "m.key_id = %(key)s AND m.agent_id = (SELECT k.agent_id FROM tenants_agentkey k"
    " WHERE k.tenant_id = %(tenant)s AND k.id = %(key)s)",
    "session": "m.session = %(session)s",
    "tool": "m.tool = %(tool)s",
    "source": "CASE WHEN m.tool = '' THEN m.agent_name ELSE m.agent_name || '/' || m.tool END = %(source)s",
    "since": "m.recorded_at >= %(since)s",
    "until": "m.recorded_at <= %(until)s",
}


def _ask(select: str, seed: Seed, seen: datetime, **more: Any) -> list[tuple[Any, ...]]:
    given = {name: value for name in _CONDITIONS if (value := getattr(seed, name))}
    conditions = " AND ".join(_CONDITIONS[name] for name in given) or "false"
    with connection.cursor() as cursor:
        cursor.execute(
            _TOUCHED.format(conditions=conditions) + select,
            {**given, "tenant": current_tenant_id(), "seen": seen, **more},
        )
        return cursor.fetchall()


_COUNTS: Final = """
SELECT count(*) FILTER (WHERE t.written), count(*) FILTER (WHERE NOT t.written),
       count(*) FILTER (WHERE m.status = ANY(%(readable)s)), count(*) FILTER (WHERE m.status = 'quarantined'),
       count(*) FILTER (WHERE m.status = ANY(%(holdable)s))
  FROM touched t JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = t.id
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of the set: written by the seed, derived from that; readable now, held already, and what a quarantine
    would take (also what was removed: it could be restored)."""

    written: int
    derived: int
    readable: int
    held: int
    holdable: int

    @property
    def total(self) -> int:
        return self.written + self.derived


def counts(seed: Seed, seen: datetime) -> Counts:
    """How large the set is, of what was recorded up to `seen`."""
    (row,) = _ask(_COUNTS, seed, seen, readable=sorted(map(str, READABLE)), holdable=HOLDABLE)
    return Counts(*row)


_IDS: Final = """
SELECT t.id FROM touched t JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = t.id
 WHERE m.status = ANY(%(holdable)s) ORDER BY t.id
"""


def holdable_ids(seed: Seed, seen: datetime) -> list[UUID]:
    """What a quarantine would take, by id."""
    return [row[0] for row in _ask(_IDS, seed, seen, holdable=HOLDABLE)]


_ENTRIES: Final = """
SELECT m.id, t.written, m.status, m.scope, m.content, m.agent_name, m.recorded_at, m.version
  FROM touched t JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = t.id
 WHERE (%(before)s::uuid IS NULL OR m.id < %(before)s) ORDER BY m.id DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory of the set."""

    id: UUID
    written: bool
    status: str
    scope: str
    content: str
    agent: str
    recorded_at: datetime
    version: int


def entries(seed: Seed, seen: datetime, *, before: UUID | None = None, most: int = MOST) -> list[Entry]:
    """The memories, the newest first, at most `most` + 1 of them (one more says that there are more)."""
    return [Entry(*row) for row in _ask(_ENTRIES, seed, seen, before=before, most=most + 1)]


# Of each agent and session that was given one of the memories.  Manifests past their retention are not told.
_SEEN_BY: Final = """
, given AS MATERIALIZED (
    SELECT e.manifest_id, count(*) AS entries, count(e.used_at) AS used
      FROM touched t
      JOIN memory_manifestentry e ON e.tenant_id = %(tenant)s AND e.memory_id = t.id
     WHERE e.manifest_id >= memgov.id_floor(%(kept)s)
     GROUP BY e.manifest_id
),
reads AS MATERIALIZED (
    SELECT g.*, f.at, f.agent_id, f.agent_name, f.session, f.kind
      FROM given g JOIN memory_manifest f ON f.tenant_id = %(tenant)s AND f.id = g.manifest_id AND f.at > %(kept)s
)
"""
_READ: Final = f"""{_SEEN_BY},
latest AS (SELECT * FROM reads ORDER BY manifest_id DESC LIMIT %(most)s),
agents AS (
    SELECT agent_id, max(agent_name) AS name, count(*) AS reads, sum(entries)::int AS entries, sum(used)::int AS used,
           max(at) AS last FROM reads GROUP BY agent_id ORDER BY max(at) DESC LIMIT %(most)s
),
sessions AS (
    SELECT session, max(agent_name) AS name, count(*) AS reads, max(at) AS last FROM reads WHERE session <> ''
     GROUP BY session ORDER BY max(at) DESC LIMIT %(most)s
)
SELECT 'totals', NULL, NULL, count(*)::int, count(DISTINCT agent_id)::int,
       count(DISTINCT nullif(session, ''))::int, NULL
  FROM reads
UNION ALL SELECT 'manifest', manifest_id::text, agent_name, entries::int, used::int, 0, at FROM latest
UNION ALL SELECT 'agent', agent_id::text, name, reads::int, entries, used, last FROM agents
UNION ALL SELECT 'session', session, name, reads::int, 0, 0, last FROM sessions
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A manifest, agent or session that was given memories of the set: `name` is the agent's, `count` the reads (of
    a manifest: its memories of the set), `used` how often one was reported as used."""

    key: str
    name: str
    count: int
    used: int
    at: datetime


@dataclass(slots=True)
class Readers:
    """Who was given memories of the set: totals, and the latest of each kind."""

    manifests: int = 0
    agents: int = 0
    sessions: int = 0
    latest: list[Seen] = field(default_factory=list)
    by_agent: list[Seen] = field(default_factory=list)
    by_session: list[Seen] = field(default_factory=list)


def readers(seed: Seed, seen: datetime, kept: datetime, *, most: int = MOST) -> Readers:
    """Who saw it, in manifests after `kept` (the start of their retention).  One query."""
    found = Readers()
    lists: Mapping[str, list[Seen]] = {
        "manifest": found.latest, "agent": found.by_agent, "session": found.by_session,
    }  # fmt: skip
    for what, key, name, first, second, third, at in _ask(_READ, seed, seen, kept=kept, most=most):
        if what == "totals":
            found.manifests, found.agents, found.sessions = first, second, third
        else:
            lists[what].append(Seen(key or "", name, first, third if what == "agent" else second, at))
    for rows in lists.values():
        rows.sort(key=lambda row: row.at, reverse=True)
    return found


# Ids as the audit writes them, so that its index by target finds what people did.
_DECISIONS: Final = """
, targets AS MATERIALIZED (
    SELECT 'mem_' || replace(id::text, '-', '') AS target FROM touched
    UNION ALL
    SELECT 'prm_' || replace(p.id::text, '-', '') FROM touched t
      JOIN memory_promotionrequest p ON p.tenant_id = %(tenant)s AND p.memory_id = t.id
    UNION
    SELECT 'con_' || replace(c.id::text, '-', '')
      FROM memory_contradiction c CROSS JOIN LATERAL unnest(ARRAY[c.memory_a, c.memory_b]) AS side(id)
      JOIN touched t ON t.id = side.id
     WHERE c.tenant_id = %(tenant)s
)
SELECT a.at, a.actor_name, a.action, a.target_id, a.reason, count(*) OVER ()
  FROM targets t JOIN memory_auditevent a ON a.tenant_id = %(tenant)s AND a.target_id = t.target
 WHERE a.actor_kind = 'member' ORDER BY a.seq DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Decided:
    """Something that a person did about a memory of the set, a request for it or a contradiction with it."""

    at: datetime
    actor: str
    action: str
    target: str
    reason: str


def decisions(seed: Seed, seen: datetime, *, most: int = MOST) -> tuple[list[Decided], int]:
    """What people decided, the latest first, and how much of it there is."""
    rows = _ask(_DECISIONS, seed, seen, most=most)
    return [Decided(*row[:5]) for row in rows], rows[0][5] if rows else 0

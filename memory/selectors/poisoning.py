"""What poisoning looks like from outside the texts: one source in most results, echoes, sudden bursts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

from tenants.context import current_tenant_id

SHARE_WINDOW: Final = timedelta(days=7)
DAY: Final = timedelta(days=1)
USUAL_DAYS: Final = 14

# A share means something only where there is a choice: of enough entries, from several sources.
_SHARES: Final = """
SELECT source, count, total FROM (
    SELECT e.source, count(*) AS count, sum(count(*)) OVER ()::int AS total, count(*) OVER () AS sources
      FROM memory_manifest m
      JOIN memory_manifestentry e ON e.tenant_id = %(tenant)s AND e.manifest_id = m.id
     WHERE m.tenant_id = %(tenant)s AND m.at > %(since)s AND m.at <= %(now)s AND m.id >= memgov.id_floor(%(since)s)
       AND e.manifest_id >= memgov.id_floor(%(since)s) AND e.channel = 'retrieved' AND e.source <> ''
     GROUP BY e.source
) s WHERE total >= %(least)s AND sources >= %(sources)s AND count > %(share)s * total ORDER BY count DESC
"""
LEAST_ENTRIES, LEAST_SOURCES = 50, 3


@dataclass(frozen=True, slots=True)
class SourceShare:
    """A source that stands behind more of the recent results than one source should."""

    source: str
    entries: int
    total: int


def source_shares(share: float, now: datetime) -> list[SourceShare]:
    """Sources with more than `share` of what retrievals gave within the window."""
    rows = _rows(_SHARES, now - SHARE_WINDOW, now, share=share, least=LEAST_ENTRIES, sources=LEAST_SOURCES)
    return [SourceShare(*row) for row in rows]


_ECHOES: Final = """
SELECT agent_id, max(agent_name), session, count(*) FROM memory_writedecision
 WHERE tenant_id = %(tenant)s AND at > %(since)s AND at <= %(now)s AND outcome = 'echo' AND agent_id IS NOT NULL
 GROUP BY agent_id, session HAVING count(*) >= %(least)s ORDER BY count(*) DESC LIMIT 50
"""
LEAST_ECHOES = 10


@dataclass(frozen=True, slots=True)
class Echoes:
    """A session that keeps writing back what it was shown."""

    agent_id: UUID
    agent: str
    session: str
    count: int


def echo_loops(now: datetime) -> list[Echoes]:
    """Sessions with many echoes within a day."""
    return [Echoes(*row) for row in _rows(_ECHOES, now - DAY, now, least=LEAST_ECHOES)]


_BURSTS: Final = """
SELECT agent_id, max(agent_name), count(*) FILTER (WHERE at > %(day)s),
       count(*) FILTER (WHERE at <= %(day)s)::float8 / %(usual_days)s
  FROM memory_writedecision
 WHERE tenant_id = %(tenant)s AND at > %(since)s AND at <= %(now)s AND agent_id IS NOT NULL
 GROUP BY agent_id
HAVING count(*) FILTER (WHERE at > %(day)s) >= %(least)s
   AND count(*) FILTER (WHERE at > %(day)s)
       > %(times)s * greatest(1, count(*) FILTER (WHERE at <= %(day)s)::float8 / %(usual_days)s)
 ORDER BY 3 DESC LIMIT 50
"""
LEAST_BURST, TIMES_USUAL = 100, 10


@dataclass(frozen=True, slots=True)
class Burst:
    """An agent that wrote far more within a day than it does."""

    agent_id: UUID
    agent: str
    today: int
    usual: float


def bursts(now: datetime) -> list[Burst]:
    """Agents whose writes of the last day are many times those of their usual day."""
    since = now - DAY * (USUAL_DAYS + 1)
    more = {"day": now - DAY, "usual_days": USUAL_DAYS, "least": LEAST_BURST, "times": TIMES_USUAL}
    return [Burst(*row) for row in _rows(_BURSTS, since, now, **more)]


def _rows(sql: str, since: datetime, now: datetime, **more: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": current_tenant_id(), "since": since, "now": now, **more})
        return cursor.fetchall()

"""Set-based steps of people: many memories held at once, and many brought back at once.

Like the statements of the sweeps (`memory.store.bulk`): rows, index, revisions and the job's progress change in one
statement, so that a worker killed between batches leaves counts that are true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memgov.ids import floor_id, id_series
from memory.domain.lifecycle import READABLE, SOURCES, Event
from memory.domain.search_terms import index_terms
from memory.domain.types import Status
from memory.models import MemoryIndex, Revision
from memory.store.bulk import CHANGE, JOB, ROWS, STATE, STATUS, UNINDEX, Changed
from memory.store.search_index import INSERT_INTO
from memory.store.vectors import Vector, halfvec
from tenants.context import current_tenant_id

_HELD: Final = """
SELECT m.id, m.status AS was, NULL::float8 AS score
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(chosen)s) AND m.status = ANY(%(sources)s)
 ORDER BY m.id FOR UPDATE OF m
"""
_HOLD: Final = CHANGE.format(pick=_HELD, sets=STATUS, unindex=UNINDEX, state=STATE, recorded=JOB, told=ROWS)

_CHOSEN: Final = """
SELECT m.id, m.status AS was, NULL::float8 AS score
  FROM unnest(%(chosen)s::uuid[], %(versions)s::int[]) AS w(id, version)
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = w.id
 WHERE m.version = w.version AND m.status = ANY(%(sources)s)
 ORDER BY m.id FOR UPDATE OF m
"""
_DELETE: Final = CHANGE.format(
    pick=_CHOSEN, sets=STATUS, unindex=UNINDEX, state=STATE, recorded=JOB, told=ROWS
)

# A row comes back unless something lives in its place: the same text, or another value where there is one only.
# What comes back as contested stands beside its rivals, but not beside a value that won.  What stands under a name that
# became an alias since is for a restore of its own, which gives it the new name and looks what lives there.
_FREE: Final = """
    (w.back <> ALL(%(readable)s) OR NOT EXISTS (
        SELECT FROM memory_subjectalias a WHERE a.tenant_id = %(tenant)s AND a.alias = m.subject
    ) AND NOT EXISTS (
        SELECT FROM memory_predicatesetting a WHERE a.tenant_id = %(tenant)s AND m.predicate = ANY(a.aliases)
    ) AND NOT EXISTS (
        SELECT FROM memory_memory o
         WHERE o.tenant_id = %(tenant)s AND o.scope = m.scope AND o.subject = m.subject AND o.predicate = m.predicate
           AND o.id <> m.id AND o.status = ANY(%(readable)s)
           AND CASE WHEN o.begins_at > %(now)s THEN o.begins_at END IS NOT DISTINCT FROM
               CASE WHEN m.valid_from > %(now)s THEN m.valid_from END
           AND ((o.value_hash = m.value_hash AND NOT m.may_repeat AND NOT o.may_repeat)
                OR (m.single_valued AND o.single_valued AND o.claim = m.claim
                    AND (o.status = 'live' OR w.back = 'live')))))
"""
_BACK: Final = f"""
SELECT m.id, m.status AS was, NULL::float8 AS score, w.back, w.terms
  FROM unnest(%(chosen)s::uuid[], %(versions)s::int[], %(backs)s::text[], %(terms)s::text[])
       AS w(id, version, back, terms)
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = w.id
 WHERE m.version = w.version AND {_FREE}
 ORDER BY m.id FOR UPDATE OF m
"""
_WORDS: Final = "coalesce(string_to_array(nullif(p.terms, ''), ' '), '{}')"
_INDEX: Final = f"""indexed AS (
    {INSERT_INTO}, {_WORDS}, cardinality({_WORDS}), NULL::halfvec, ''
      FROM changed m JOIN numbered p ON p.id = m.id WHERE m.status = ANY(%(readable)s)
),"""
_SETS: Final = """status = p.back, status_reason = %(reason)s, status_changed_at = %(now)s,
       superseded_by = CASE WHEN p.back = ANY(%(readable)s) THEN NULL ELSE m.superseded_by END,
       merged_into = CASE WHEN p.back = ANY(%(readable)s) THEN NULL ELSE m.merged_into END,
       expires_at = CASE WHEN %(unend)s AND m.expires_at <= %(now)s THEN NULL ELSE m.expires_at END,
       valid_to = CASE WHEN %(unend)s AND m.valid_to <= %(now)s THEN NULL ELSE m.valid_to END,
       begins_at = CASE WHEN m.valid_from > %(now)s THEN m.valid_from END"""
_BRING_BACK: Final = CHANGE.format(
    pick=_BACK, sets=_SETS, unindex=_INDEX, state=STATE, recorded=JOB, told=ROWS
)


@dataclass(frozen=True, slots=True)
class BulkStep:
    """A step of a job: the event's name, who asked for it and why, and the instant that all of its rows carry."""

    job_id: UUID
    event: str
    actor: str
    reason: str
    now: datetime


def hold(step: BulkStep, ids: Sequence[UUID], sources: Sequence[str], reached: datetime) -> list[Changed]:
    """Put those of the memories into quarantine that are in one of the statuses; waits for who holds one."""
    more = {"chosen": list(ids), "sources": list(sources), "status": "quarantined"}
    return _run(_HOLD, step, reached, more)


def delete(step: BulkStep, versions: Mapping[UUID, int], reached: datetime) -> list[Changed]:
    """Delete those of the memories that still are at their version; waits for who holds one."""
    more = {
        "chosen": list(versions),
        "versions": list(versions.values()),
        "sources": sorted(map(str, SOURCES[Event.DELETE])),
        "status": str(Status.DELETED),
    }
    return _run(_DELETE, step, reached, more)


@dataclass(frozen=True, slots=True)
class Return:
    """A memory that is to come back: the version at which it was taken, the status it had before, and its text."""

    id: UUID
    version: int
    back: str
    content: str


def bring_back(step: BulkStep, rows: Sequence[Return], reached: datetime, *, unend: bool) -> list[Changed]:
    """Give each its status back, if it still is at that version and nothing lives in its place; who came back.

    Agents find them by their words at once.  Vectors are a second step (`give_vectors`): to put one into its index
    takes twenty times as long as all the rest.
    `unend`: an end that has passed meanwhile is taken off.  Raises `IntegrityError` when another writer took a place
    at this very moment: look again.
    """
    found = [index_terms(row.content) if row.back in READABLE else [] for row in rows]
    more = {
        "chosen": [row.id for row in rows],
        "versions": [row.version for row in rows],
        "backs": [row.back for row in rows],
        "terms": [" ".join(words) for words in found],
        "readable": sorted(map(str, READABLE)),
        "unend": unend,
        "status": None,
    }
    return _run(_BRING_BACK, step, reached, more)


def _run(sql: str, step: BulkStep, reached: datetime, more: dict[str, Any]) -> list[Changed]:
    series, start = id_series(step.now)
    parameters = {
        "tenant": current_tenant_id(), "now": step.now, "event": step.event, "actor": step.actor,
        "reason": step.reason[:500], "series": series, "start": start, "run": step.job_id,
        "reached": reached, "policy": None, **more,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [Changed(*row[:4]) for row in cursor.fetchall()]


_GIVE: Final = """
UPDATE memory_index i SET embedding = v.vector::halfvec, model_id = v.model
  FROM unnest(%(ids)s::uuid[], %(vectors)s::text[], %(models)s::text[]) AS v(id, vector, model)
 WHERE i.tenant_id = %(tenant)s AND i.memory_id = v.id AND i.embedding IS NULL
"""


def without_vector(ids: Sequence[UUID]) -> set[UUID]:
    """Those of the memories that are findable by their words only."""
    rows = MemoryIndex.objects.filter(tenant_id=current_tenant_id(), memory_id__in=list(ids), embedding=None)
    return set(rows.values_list("memory_id", flat=True))


def give_vectors(vectors: Mapping[UUID, Vector]) -> None:
    """Make memories findable by their meaning too."""
    with connection.cursor() as cursor:
        cursor.execute(
            _GIVE,
            {"tenant": current_tenant_id(), "ids": list(vectors),
             "vectors": [halfvec(one) for one in vectors.values()],
             "models": [one.model_id for one in vectors.values()]},
        )  # fmt: skip


# Audit events carry ids of their instant and the run or job as their request, so that those of one step lie together
# in the primary key.
_TAKEN: Final = """
WITH events AS MATERIALIZED (
    SELECT a.id, substr(a.target_id, 5) AS memory FROM memory_auditevent a
     WHERE a.tenant_id = %(tenant)s AND a.id > %(after)s AND a.id >= %(first)s AND a.id < %(beyond)s
       AND a.request_id = %(request)s AND a.action = %(event)s AND a.target_kind = 'memory'
     ORDER BY a.id LIMIT %(most)s
)
SELECT e.id, m.id, m.version, r.event = %(event)s AND r.at = %(at)s, before.state->>'status', m.content, m.merged_into
  FROM events e
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = e.memory::uuid
  JOIN memory_revision r ON r.tenant_id = %(tenant)s AND r.memory_id = m.id AND r.version = m.version
  LEFT JOIN memory_revision before
    ON before.tenant_id = %(tenant)s AND before.memory_id = m.id AND before.version = m.version - 1
 ORDER BY e.id
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """A memory as one step took it; `untouched`: nothing has happened to it since."""

    place: UUID
    untouched: bool
    row: Return
    merged_into: UUID | None


def taken_by(request: str, event: str, at: datetime, after: UUID, most: int) -> list[Taken]:
    """What one job or run took (its id as its events carry it), in order, from `after` (a `place`) on."""
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(), "after": after, "first": floor_id(at),
        "beyond": UUID(int=floor_id(at).int + (1 << 80)), "at": at, "event": event, "request": request, "most": most,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_TAKEN, parameters)
        return [
            Taken(place, bool(same and back), Return(memory_id, version, back or "", content), into)
            for place, memory_id, version, same, back, content, into in cursor.fetchall()
        ]


def brought_back(ids: Sequence[UUID], event: str, instants: Sequence[datetime]) -> set[UUID]:
    """Which of the memories a step of one of these instants has changed already."""
    rows = Revision.objects.filter(memory_id__in=ids, event=event, at__in=instants)
    return set(rows.values_list("memory_id", flat=True))

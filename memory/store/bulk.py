"""Set-based statements of the sweeps: one per batch changes the rows, their index and their revisions.

The record of the run moves in the same statement, so that a worker killed between batches leaves counts that
are true.  Which rows are picked is not decided here; a pick is SQL of (id, was, score) with its locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from memgov.ids import floor_id, id_series
from memory.domain import audit_chain
from memory.models import Memory, ScopeRecord, SweepRun
from memory.store import memories
from tenants.context import current_tenant_id
from tenants.principals import Principal

BATCH = 1000
START = UUID(int=0)

STATE = ", ".join(f"'{name}', c.{name}" for name in memories.snapshot(Memory()))

# Rows are found by an array of their ids as well: joined only, a planner that takes a batch for a large part of the
# tenant reads all of the tenant for each batch.
CHANGE = """
WITH picked AS MATERIALIZED ({pick}),
numbered AS (SELECT p.*, row_number() OVER (ORDER BY p.id) AS place FROM picked p),
changed AS (
    UPDATE memory_memory m SET {sets}, version = m.version + 1
      FROM numbered p
     WHERE m.tenant_id = %(tenant)s AND m.id = p.id AND m.id = ANY(ARRAY(SELECT id FROM picked))
    RETURNING m.*, p.was, p.score, p.place
),
{unindex}
revised AS (
    INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)
    SELECT %(tenant)s, (%(series)s || lpad(to_hex(%(start)s + c.place), 8, '0'))::uuid, c.id, c.version, %(now)s,
           %(event)s, %(actor)s, %(reason)s, jsonb_build_object({state})
      FROM changed c
),
policy AS (
    SELECT coalesce(%(policy)s::int, (SELECT number FROM memory_policyversion
                                       WHERE tenant_id = %(tenant)s AND active), 0) AS number
),
{recorded}
{told}
"""
ROWS = "SELECT c.id, c.scope, c.was, c.score, policy.number FROM changed c, policy ORDER BY c.id"
# The events of the rows, chained in the same statement.  What stands around an event's number is its canonical form
# (`memory.domain.audit_chain`): names sorted, no spaces.  The fixed parts come ready from `_around`; a score is written
# as PostgreSQL and Python both write it, and read back as what was hashed.
_AUDITED = """,
weighed AS (
    SELECT c.id, c.scope, c.was, c.place,
           '{' || CASE WHEN c.score IS NULL THEN '' ELSE '"score":' || round(c.score::numeric, 6)::float8 || ',' END
               || '"status":"' || %(status)s || '"}' AS after,
           (%(events)s || lpad(to_hex(%(start)s + c.place), 8, '0'))::uuid AS event
      FROM changed c
),
events AS (
    SELECT json_agg(json_build_object(
               'id', w.event, 'action', %(event)s::text, 'target_kind', 'memory',
               'target_id', 'mem_' || replace(w.id::text, '-', ''), 'scope', w.scope, 'reason', %(reason)s::text,
               'before', json_build_object('status', w.was),
               'after', w.after::json, 'policy_version', policy.number,
               'head', %(head_after)s || w.after || %(head_before)s
                       || '{"status":"' || w.was || '"}' || %(head_id)s || w.event || '","policy_version":'
                       || policy.number || %(head_reason)s || to_json(w.scope::text) || ',"seq":',
               'tail', ',"target_id":"mem_' || replace(w.id::text, '-', '') || '","target_kind":"memory"}'
           ) ORDER BY w.place) AS list
      FROM weighed w, policy
)
SELECT coalesce((SELECT array_agg(c.id ORDER BY c.id) FROM changed c), '{}'), policy.number,
       CASE WHEN events.list IS NOT NULL THEN memgov.append_audit(
           %(tenant)s, %(now)s, %(by_kind)s, %(by_id)s, %(actor)s, %(request)s, events.list) END
  FROM events, policy
"""
RUN = """recorded AS (
    INSERT INTO memory_sweeprun AS r (tenant_id, id, name, status, dry_run, started_at, finished_at, scanned, changed,
                                      skipped, policy_version, note, details)
    SELECT %(tenant)s, %(run)s, %(name)s, CASE WHEN last THEN %(final)s ELSE 'running' END, false, %(started)s,
           CASE WHEN last THEN %(reached)s + (clock_timestamp() - statement_timestamp()) END,
           coalesce(%(scanned)s::int, %(before)s + rows), %(before)s + rows, %(skipped)s, policy.number, %(note)s,
           %(details)s
      FROM (SELECT count(*)::int AS rows, %(closing)s AND count(*) < %(batch)s AS last FROM changed) c, policy
    ON CONFLICT (tenant_id, id) DO UPDATE
       SET status = excluded.status, finished_at = excluded.finished_at, scanned = excluded.scanned,
           changed = excluded.changed, skipped = excluded.skipped, note = excluded.note, details = excluded.details
)"""
JOB = """recorded AS (
    UPDATE memory_job SET done = done + (SELECT count(*) FROM changed)::int, touched_at = %(reached)s,
           takes = CASE WHEN EXISTS (SELECT FROM changed) THEN 0 ELSE takes END
     WHERE tenant_id = %(tenant)s AND id = %(run)s
)"""
STATUS = "status = %(status)s, status_reason = %(reason)s, status_changed_at = %(now)s"
UNINDEX = """unindexed AS (
    DELETE FROM memory_index i
     WHERE i.tenant_id = %(tenant)s AND i.memory_id = ANY(ARRAY(SELECT c.id FROM changed c))
),"""
_MOVE = CHANGE.format(pick="{pick}", sets=STATUS, unindex=UNINDEX, state=STATE, recorded=RUN, told=ROWS)
_WEIGH = CHANGE.format(
    pick="{pick}", sets="confidence = p.score", unindex="", state=STATE, recorded=RUN, told=ROWS
)
_MOVE_AUDITED = CHANGE.format(
    pick="{pick}",
    sets=STATUS,
    unindex=UNINDEX,
    state=STATE,
    recorded=RUN,
    told=_AUDITED,
)

PICK_CHOSEN = """
SELECT m.id, m.status AS was, NULL::float8 AS score
  FROM memory_memory m JOIN unnest(%(chosen)s::uuid[], %(versions)s::int[]) AS w(id, version) ON w.id = m.id
 WHERE m.tenant_id = %(tenant)s AND m.version = w.version AND m.status IN ('live', 'contested') AND m.id > %(after)s
 ORDER BY m.id LIMIT %(batch)s FOR UPDATE OF m SKIP LOCKED
"""
"""Readable memories that were chosen one by one, unless one has changed since."""


@dataclass(slots=True)
class RunRecord:
    """A run as it is being recorded.  `scanned` None: only what was changed was looked at."""

    id: UUID
    name: str
    started_at: datetime
    began: float
    dry_run: bool = False
    scanned: int | None = None
    changed: int = 0
    skipped: int = 0
    policy_version: int | None = None
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def reached(self) -> datetime:
        """The instant it is for the run: its start and the time that has passed since."""
        return self.started_at + timedelta(seconds=perf_counter() - self.began)


@dataclass(frozen=True, slots=True)
class BulkChange:
    """What is done to every picked row, and who says so.  `status` None: the pick's score is the new confidence."""

    pick: str
    parameters: Mapping[str, Any]
    status: str | None
    event: str
    actor: str
    reason: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """One changed row: what it was before and the score that decided it."""

    id: UUID
    scope: str
    was: str
    score: float | None


def apply(change: BulkChange, run: RunRecord, *, limit: int = BATCH, final: str = "") -> list[Changed]:
    """Change one batch and count it in the run's record; the changed rows, by id.

    With `final`, the run ends with that status when the batch was not full.
    """
    sql = (_MOVE if change.status is not None else _WEIGH).replace("{pick}", change.pick)
    with connection.cursor() as cursor:
        cursor.execute(sql, _parameters(change, run, limit, final))
        rows = cursor.fetchall()
    if rows:
        run.policy_version = rows[0][4]
    run.changed += len(rows)
    return [Changed(*row[:4]) for row in rows]


def apply_audited(
    change: BulkChange, by: Principal, run: RunRecord, *, limit: int = BATCH, final: str = ""
) -> list[UUID]:
    """Change the status of one batch and chain its audit events, all in one statement; the ids of the changed rows.

    It holds the end of the tenant's chain until the transaction ends: nothing may follow it but the commit.
    """
    assert change.status is not None  # a change of confidence is told row by row
    own = _parameters(change, run, limit, final)
    parameters = {**own, **_around(change, by), "by_kind": by.kind, "by_id": by.id, "request": by.request_id}
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_AUDITED.replace("{pick}", change.pick), parameters)
        ids, run.policy_version, _ = cursor.fetchone()
    run.changed += len(ids)
    return list(ids)


def _parameters(change: BulkChange, run: RunRecord, limit: int, final: str) -> dict[str, Any]:
    series, start = id_series(change.now)
    return {
        **change.parameters, "tenant": current_tenant_id(), "batch": limit, "now": change.now,
        "status": change.status, "event": change.event, "actor": change.actor, "reason": change.reason[:500],
        "series": series, "start": start, "run": run.id, "name": run.name,
        "started": run.started_at, "reached": run.reached(), "scanned": run.scanned, "before": run.changed,
        "skipped": run.skipped, "policy": run.policy_version, "note": run.note[:500],
        "details": Jsonb(run.details), "final": final, "closing": bool(final),
    }  # fmt: skip


def _around(change: BulkChange, by: Principal) -> dict[str, Any]:
    """What stands in every event of a batch around what differs from row to row, in canonical form."""

    def plain(**parts: Any) -> str:
        return audit_chain.canonical_bytes(parts)[1:-1].decode()

    who = plain(action=change.event, actor_id=by.id, actor_kind=by.kind, actor_name=change.actor)
    return {
        "events": id_series(change.now)[0],
        "head_after": f'{{{who},"after":',
        "head_before": f',{plain(at=change.now)},"before":',
        "head_id": ',"id":"',
        "head_reason": f',{plain(reason=change.reason[:500], request_id=by.request_id)},"scope":',
    }


def record_run(run: RunRecord, status: str) -> None:
    """Write the run's record as it stands, with its end unless it goes on."""
    fields = {
        "name": run.name, "status": status, "dry_run": run.dry_run, "started_at": run.started_at,
        "finished_at": None if status == "running" else run.reached(), "scanned": run.scanned or 0,
        "changed": run.changed, "skipped": run.skipped, "policy_version": run.policy_version or 0,
        "note": run.note[:500], "details": run.details,
    }  # fmt: skip
    if not SweepRun.objects.filter(id=run.id).update(**fields):
        SweepRun.objects.bulk_create([SweepRun(tenant_id=current_tenant_id(), id=run.id, **fields)])


def lock_scope(scope: str) -> bool:
    """Hold the scope for this transaction; False when another run holds it or nobody ever wrote to it."""
    return ScopeRecord.objects.select_for_update(skip_locked=True).filter(name=scope).first() is not None


def drop_runs_before(end: datetime, most: int) -> int:
    """Delete at most `most` records of older runs; with 0 only count them."""
    rows = SweepRun.objects.filter(id__lt=floor_id(end), started_at__lt=end)
    if not most:
        return rows.count()
    ids = list(rows.order_by("id").values_list("id", flat=True)[:most])
    SweepRun.objects.filter(id__in=ids).delete()
    return len(ids)


def note_details(run_id: UUID, details: Mapping[str, Any]) -> None:
    """Keep what became of a run that a person had to decide on."""
    SweepRun.objects.filter(id=run_id).update(details=dict(details))


def lock_free(ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those of the memories that nobody else holds, locked in the order of their ids."""
    rows = Memory.objects.select_for_update(skip_locked=True).filter(id__in=list(ids)).order_by("id")
    return {row.id: row for row in rows}


def note_findings(findings: Mapping[UUID, Any]) -> None:
    """Keep with each memory what was found in it; it makes no version."""
    sql = """UPDATE memory_memory m SET findings = f.found
               FROM unnest(%(ids)s::uuid[], %(found)s::jsonb[]) AS f(id, found)
              WHERE m.tenant_id = %(tenant)s AND m.id = f.id"""
    found = [Jsonb(list(one)) for one in findings.values()]
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": current_tenant_id(), "ids": list(findings), "found": found})

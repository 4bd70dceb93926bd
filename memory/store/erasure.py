"""Erasing what memories said: from them, and from every row that is tied to them by their ids.

The shells stay, as after a purge: id, scope, who wrote it, links and dates.  Statements for a batch of ids; what quotes
a text without being tied to it is `memory.store.erasure_texts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memgov.ids import id_series
from memory.models import SubjectAlias
from memory.store import vocabulary
from memory.store.purge import WITHOUT
from tenants.context import current_tenant_id

# A statement of its own: the next one sees what whoever held them has written meanwhile.
_LOCK: Final = """
SELECT m.id FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.id = ANY(%(ids)s) AND m.status <> 'erased' ORDER BY m.id FOR UPDATE
"""
_REQUESTS: Final = (
    "SELECT p.id FROM memory_promotionrequest p WHERE p.tenant_id = %(tenant)s AND p.memory_id = ANY(%(ids)s)"
)
_OF_REQUEST: Final = f"tenant_id = %(tenant)s AND request_id IN ({_REQUESTS})"
# What else there is of these memories, in the order in which rows are locked.
_TIED: Final = {
    "memory_promotionrequest": """
UPDATE memory_promotionrequest SET reason = '', risk_reasons = '[]',
       decided_at = CASE WHEN status = 'pending' THEN %(now)s ELSE decided_at END,
       version = version + CASE WHEN status = 'pending' THEN 1 ELSE 0 END,
       status = CASE WHEN status = 'pending' THEN 'stale' ELSE status END
 WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)""",
    "memory_promotiondecision": f"UPDATE memory_promotiondecision SET reason = '' WHERE {_OF_REQUEST}",
    "memory_promotionnote": f"UPDATE memory_promotionnote SET text = '' WHERE {_OF_REQUEST}",
    "memory_contradiction": """
UPDATE memory_contradiction SET subject = '', predicate = '', evidence = '{}'
 WHERE tenant_id = %(tenant)s AND (memory_a = ANY(%(ids)s) OR memory_b = ANY(%(ids)s))""",
    "memory_sampleitem": (
        "UPDATE memory_sampleitem SET reason = '' WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)"
    ),
    "memory_mountentry": """
UPDATE memory_mountentry SET said = '', paths = '{}', tags = '{}'
 WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)""",
    "memory_writedecision": """
UPDATE memory_writedecision SET text = '', findings = '[]'
 WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)""",
    "memory_revision": f"""
UPDATE memory_revision SET state = state - {WITHOUT} - 'findings' - 'input_hash' - 'tool' - 'value_hash', reason = ''
 WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)""",
    "memory_index": "DELETE FROM memory_index WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)",
}
_ERASE: Final = """
WITH numbered AS (
    SELECT d.id, row_number() OVER (ORDER BY d.id) AS place FROM unnest(%(ids)s::uuid[]) AS d(id)
),
erased AS (
    UPDATE memory_memory m
       SET status = 'erased', status_reason = '', status_changed_at = %(now)s, version = m.version + 1,
           subject = '', predicate = '', claim = '', value = '', content = '', value_hash = sha256(m.id::text::bytea),
           paths = '{}', tags = '{}', metadata = '{}', findings = '[]', input_hash = '', tool = '', pin_reason = ''
      FROM numbered d WHERE m.tenant_id = %(tenant)s AND m.id = d.id AND m.id = ANY(%(ids)s)
    RETURNING m.id, m.version, d.place
),
recorded AS (
    UPDATE memory_job SET done = done + (SELECT count(*) FROM erased)::int, touched_at = %(reached)s, takes = 0,
           total = greatest(total, done + (SELECT count(*) FROM erased)::int)
     WHERE tenant_id = %(tenant)s AND id = %(job)s
)
INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)
SELECT %(tenant)s, (%(series)s || lpad(to_hex(%(start)s + e.place), 8, '0'))::uuid, e.id, e.version, %(now)s,
       %(event)s, %(actor)s, '', jsonb_build_object('status', 'erased')
  FROM erased e
"""
# Reads are asked about without locks of memories: their rows are nobody else's while they change.
_READS: Final = {
    "memory_manifest": """
UPDATE memory_manifest SET query_text = '', query_hash = '', block_digest = '',
       request = request - '{query,keys,tags,paths}'::text[]
 WHERE tenant_id = %(tenant)s AND id IN (
       SELECT e.manifest_id FROM memory_manifestentry e
        WHERE e.tenant_id = %(tenant)s AND e.memory_id = ANY(%(ids)s))""",
    "memory_manifestentry": (
        "UPDATE memory_manifestentry SET source = '' WHERE tenant_id = %(tenant)s AND memory_id = ANY(%(ids)s)"
    ),
}


def erase(
    job_id: UUID, ids: Sequence[UUID], begun: datetime, now: datetime, *, event: str, actor: str
) -> dict[str, int]:
    """Erase these memories, with what is tied to them, in the present transaction; rows by table.

    The step's progress moves with it.  `begun`: the instant of the step, by which what it took is found again.
    """
    series, start = id_series(begun)
    with connection.cursor() as cursor:
        given: dict[str, Any] = {
            "tenant": current_tenant_id(),
            "ids": list(ids),
            "now": begun,
            "reached": now,
        }
        cursor.execute(_LOCK, given)
        given["ids"] = [row[0] for row in cursor.fetchall()]
        counts = {}
        for table, statement in {**_TIED, **_READS}.items():
            cursor.execute(statement, given)
            counts[table] = cursor.rowcount
        more = {"series": series, "start": start, "event": event, "actor": actor, "job": job_id}
        cursor.execute(_ERASE, given | more)
        counts["memory_memory"] = cursor.rowcount
    return counts


def forget_reads(ids: Sequence[UUID]) -> None:
    """The same for reads that were answered while these memories went."""
    with connection.cursor() as cursor:
        for statement in _READS.values():
            cursor.execute(statement, {"tenant": current_tenant_id(), "ids": list(ids)})


_DROP_ALIASES: Final = (
    "DELETE FROM memory_subjectalias WHERE tenant_id = %s AND (alias = ANY(%s) OR subject = ANY(%s))"
)


def forget_aliases(names: Sequence[str]) -> int:
    """Take the subject's other names out of the vocabulary; how many.  A transaction of its own: it holds that."""
    if not SubjectAlias.objects.filter(subject__in=names).exists():
        return 0
    vocabulary.raise_version()
    with connection.cursor() as cursor:
        cursor.execute(_DROP_ALIASES, [current_tenant_id(), list(names), list(names)])
        return cursor.rowcount

"""What a candidate is compared with: live rows of its scope that may say the same or something else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import connection

from memory.domain.text import query_terms
from memory.domain.types import Candidate, Known, Origin, Status
from memory.models import Memory
from memory.models.memory import LIVE_STATUSES
from tenants.context import current_tenant_id

# How many free texts of a scope are compared by their wording.  They are those that share the most terms.
NEAR_LIMIT = 20


def rows_for(candidate: Candidate, value_hash: bytes, *, near: bool) -> list[Memory]:
    """The rows to reconcile with.  Not locked: whoever changes one locks it and looks at its version again.

    A triple meets the rows of its key; free text meets the same text, and with `near` those of similar wording.
    """
    rows = Memory.objects.filter(scope=str(candidate.scope), status__in=LIVE_STATUSES)
    if candidate.keyed:
        rows = rows.filter(subject=candidate.subject, predicate=candidate.predicate)
    else:
        ids = _similar_ids(str(candidate.scope), candidate.content) if near else []
        rows = rows.filter(predicate="")
        rows = rows.filter(value_hash=value_hash) | rows.filter(id__in=ids)
    return list(rows.order_by("id"))


def as_known(row: Memory) -> Known:
    """A row as reconciliation sees it."""
    return Known(
        id=row.id,
        version=row.version,
        status=Status(row.status),
        content=row.content,
        value=row.value or None,
        value_hash=bytes(row.value_hash),
        predicate=row.predicate or None,
        confidence=row.confidence,
        trust=row.trust,
        origin=Origin(row.origin),
        learned_at=row.learned_at,
        valid_from=row.valid_from,
        pinned=row.pinned_at is not None,
        agent=row.agent_id,
        session=row.session or None,
        subject=row.subject or None,
        tool=row.tool or None,
    )


def shown_to(session: str | None, among: Collection[UUID]) -> set[UUID]:
    """Which of these memories manifests of the session contained."""
    if not session or not among:
        return set()
    tenant = current_tenant_id()
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT DISTINCT e.memory_id FROM memory_manifestentry e
                 JOIN memory_manifest m ON m.tenant_id = e.tenant_id AND m.id = e.manifest_id
                WHERE e.tenant_id = %s AND m.tenant_id = %s AND m.session = %s AND e.memory_id = ANY(%s)""",
            [tenant, tenant, session, list(among)],
        )
        return {row[0] for row in cursor.fetchall()}


def _similar_ids(scope: str, content: str) -> Sequence[UUID]:
    terms = query_terms(content)
    if not terms:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT i.memory_id FROM memory_index i
                WHERE i.tenant_id = %s AND i.scope = %s AND i.terms && %s
                ORDER BY cardinality(ARRAY(SELECT unnest(i.terms) INTERSECT SELECT unnest(%s::text[]))) DESC, 1
                LIMIT %s""",
            [current_tenant_id(), scope, terms, terms, NEAR_LIMIT],
        )
        return [row[0] for row in cursor.fetchall()]

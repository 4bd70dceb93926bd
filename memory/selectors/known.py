"""What a candidate is compared with: live rows of its scope that may say the same or something else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q
from pgvector import HalfVector

from memory.domain.claims import claim_key
from memory.domain.text import query_terms
from memory.domain.types import Candidate, Known, Origin, Status
from memory.models import Memory
from memory.models.memory import LIVE_STATUSES
from tenants.context import current_tenant_id

# How many free texts of a scope are compared by their wording.  They are those that share the most terms.
NEAR_LIMIT = 20


# What `as_known` needs.  The rest of a row is read when the row is locked.
_COMPARED = (
    "tenant_id", "id", "scope", "version", "status", "content", "subject", "predicate", "value", "value_hash", "claim",
    "confidence", "trust", "origin", "learned_at", "valid_from", "pinned_at", "agent_id", "session", "tool",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Met:
    """The rows to reconcile with, the likeliest first, and the cosine of those whose vector is comparable."""

    rows: list[Memory]
    cosines: Mapping[UUID, float]


@dataclass(frozen=True, slots=True)
class Direction:
    """The candidate's vector and the model that made it."""

    values: Sequence[float]
    model_id: str


def rows_met(candidate: Candidate, value_hash: bytes, *, near: bool, vector: Direction | None = None) -> Met:
    """The rows to reconcile with.  Not locked: whoever changes one locks it and looks at its version again.

    A triple meets the rows of its key; free text meets the same text, what claims something of the same thing, and
    with `near` what is worded alike.
    """
    rows = Memory.objects.filter(scope=str(candidate.scope), status__in=LIVE_STATUSES).only(*_COMPARED)
    if candidate.keyed:
        return Met(
            list(rows.filter(subject=candidate.subject, predicate=candidate.predicate).order_by("id")), {}
        )
    cosines = _similar(str(candidate.scope), candidate.content, vector) if near else {}
    alike = Q(value_hash=value_hash) | Q(id__in=list(cosines))
    if claim := claim_key(candidate.content):
        alike |= Q(claim=claim)
    known = {memory_id: cosine for memory_id, cosine in cosines.items() if cosine is not None}
    found = sorted(rows.filter(alike, predicate=""), key=lambda row: (-known.get(row.id, 0.0), row.id))
    return Met(found, known)


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
                WHERE e.tenant_id = %s AND m.tenant_id = %s AND m.session = %s AND m.session <> ''
                  AND e.memory_id = ANY(%s)""",
            [tenant, tenant, session, list(among)],
        )
        return {row[0] for row in cursor.fetchall()}


_SIMILAR = """
SELECT i.memory_id, CASE WHEN i.model_id = %(model)s THEN 1 - (i.embedding <=> %(vector)s::halfvec) END
  FROM memory_index i
 WHERE i.tenant_id = %(tenant)s AND i.scope = %(scope)s AND i.terms && %(terms)s
 ORDER BY cardinality(ARRAY(SELECT unnest(i.terms) INTERSECT SELECT unnest(%(terms)s::text[]))) DESC, 1
 LIMIT %(limit)s
"""


def _similar(scope: str, content: str, vector: Direction | None) -> dict[UUID, float | None]:
    """Rows that share the most terms, with the cosine where both have a vector of one model."""
    terms = query_terms(content)
    if not terms:
        return {}
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(), "scope": scope, "terms": terms, "limit": NEAR_LIMIT,
        "model": vector.model_id if vector else None,
        "vector": HalfVector(list(vector.values)).to_text() if vector else None,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_SIMILAR, parameters)
        return dict(cursor.fetchall())

"""What a candidate is compared with: live rows of its scope that may say the same or something else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from memory.domain.claims import claim_key
from memory.domain.text import query_terms
from memory.domain.types import Candidate, Known, Origin, Status
from memory.domain.vectors import vector_text
from memory.models.memory import LIVE_STATUSES
from tenants.context import current_tenant_id

# How many free texts of a scope are compared by their wording.  They are those that share the most terms.
NEAR_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Met:
    """The rows to reconcile with, the likeliest first, and the cosine of those whose vector is comparable."""

    rows: list[Known]
    cosines: Mapping[UUID, float]


@dataclass(frozen=True, slots=True)
class Direction:
    """The candidate's vector and the model that made it."""

    values: Sequence[float]
    model_id: str


_ROWS = """
SELECT m.id, m.version, m.status, m.content, m.value, m.value_hash, m.predicate, m.confidence, m.trust, m.origin,
       m.learned_at, m.valid_from, m.pinned_at IS NOT NULL, m.agent_id, m.session, m.subject, m.tool"""
_FROM = """
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.scope = %(scope)s AND m.status = ANY(%(statuses)s)"""
_OF_KEY = f"{_ROWS}, NULL {_FROM} AND m.subject = %(subject)s AND m.predicate = %(predicate)s ORDER BY m.id"
# Free texts that share the most terms, with the cosine where both have a vector of one model.
_SIMILAR = """
WITH alike AS MATERIALIZED (
    SELECT i.memory_id,
           CASE WHEN i.model_id = %(model)s THEN 1 - (i.embedding <=> %(vector)s::halfvec) END AS cosine
      FROM memory_index i
     WHERE i.tenant_id = %(tenant)s AND i.scope = %(scope)s AND i.terms && %(terms)s
     ORDER BY cardinality(ARRAY(SELECT unnest(i.terms) INTERSECT SELECT unnest(%(terms)s::text[]))) DESC, 1
     LIMIT %(limit)s
)"""
_COSINE = ", (SELECT s.cosine FROM alike s WHERE s.memory_id = m.id)"
_SAME_TEXT = "m.value_hash = %(hash)s"
_SAME_CLAIM = "m.claim = %(claim)s"
_ALIKE = "m.id = ANY(ARRAY(SELECT s.memory_id FROM alike s))"


def rows_met(candidate: Candidate, value_hash: bytes, *, near: bool, vector: Direction | None = None) -> Met:
    """The rows to reconcile with, in one statement.  Not locked: whoever changes one locks it and looks at its
    version again.

    A triple meets the rows of its key; free text meets the same text, what claims something of the same thing, and
    with `near` what is worded alike.
    """
    terms = query_terms(candidate.content) if near and not candidate.keyed else []
    claim = None if candidate.keyed else claim_key(candidate.content)
    parameters: dict[str, Any] = {
        "tenant": current_tenant_id(), "scope": str(candidate.scope), "statuses": list(LIVE_STATUSES),
        "subject": candidate.subject, "predicate": candidate.predicate, "hash": value_hash, "claim": claim,
        "terms": terms, "limit": NEAR_LIMIT, "model": vector.model_id if vector else None,
        "vector": vector_text(vector.values) if vector else None,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_OF_KEY if candidate.keyed else _texts_met(bool(terms), bool(claim)), parameters)
        found = cursor.fetchall()
    cosines = {row[0]: row[-1] for row in found if row[-1] is not None}
    known = [_known(row) for row in found]
    known.sort(key=lambda row: (-cosines.get(row.id, 0.0), row.id))
    return Met(known, cosines)


def _texts_met(similar: bool, claim: bool) -> str:
    """The statement for free text."""
    ways = [_SAME_TEXT, *([_SAME_CLAIM] if claim else []), *([_ALIKE] if similar else [])]
    head = f"{_SIMILAR}{_ROWS}{_COSINE}" if similar else f"{_ROWS}, NULL"
    return f"{head}{_FROM} AND m.predicate = '' AND ({' OR '.join(ways)})"


def _known(row: tuple[Any, ...]) -> Known:
    """A row of `_ROWS` as reconciliation sees it."""
    (
        memory_id, version, status, content, value, value_hash, predicate, confidence, trust, origin, learned_at,
        valid_from, pinned, agent, session, subject, tool, _,
    ) = row  # fmt: skip
    return Known(
        id=memory_id,
        version=version,
        status=Status(status),
        content=content,
        value=value or None,
        value_hash=bytes(value_hash),
        predicate=predicate or None,
        confidence=confidence,
        trust=trust,
        origin=Origin(origin),
        learned_at=learned_at,
        valid_from=valid_from,
        pinned=pinned,
        agent=agent,
        session=session or None,
        subject=subject or None,
        tool=tool or None,
    )


def shown_to(session: str | None, among: Collection[UUID]) -> set[UUID]:
    """Which of these memories manifests of the session contained."""
    if not session or not among:
        return set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT memgov.shown_in(%s, %s, %s)", [current_tenant_id(), session, list(among)])
        return {row[0] for row in cursor.fetchall()}

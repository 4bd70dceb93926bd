"""What a candidate is compared with: live rows of its scope that may say the same or something else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.backends.utils import CursorWrapper

from memgov.postgres.prepared import Prepared
from memory.domain.claims import claim_key
from memory.domain.text import query_terms
from memory.domain.types import Candidate, Known, Origin, Status
from memory.domain.vectors import vector_text
from memory.models.memory import LIVE_STATUSES
from tenants.context import current_tenant_id

# How many free texts of a scope are compared by their wording.  They are those that share the most terms.
NEAR_LIMIT = 20


Statement = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Met:
    """The rows to reconcile with, the likeliest first, and the cosine of those whose vector is comparable."""

    rows: list[Known]
    cosines: Mapping[UUID, float]
    held: int = 0
    """Readable memories of the scope, where they were to be counted."""


@dataclass(frozen=True, slots=True)
class Direction:
    """The candidate's vector and the model that made it."""

    values: Sequence[float]
    model_id: str


_ROWS = """
SELECT m.id, m.version, m.status, m.content, m.value, m.value_hash, m.predicate, m.confidence, m.trust, m.origin,
       m.learned_at, m.valid_from, m.pinned_at IS NOT NULL, m.agent_id, m.session, m.subject, m.tool,
       m.expires_at, m.valid_to, m.begins_at, m.single_valued"""
_FROM = f"""
  FROM memory_memory m
 WHERE m.tenant_id = $1::uuid AND m.scope = $2::text AND m.status IN {LIVE_STATUSES}"""
# Conditions that follow from others are there for the planner: without them it cannot tell that an index holds all.
_OF_KEY = Prepared(
    "known_of_key",
    f"{_ROWS}, NULL {_FROM} AND m.subject = $3::text AND m.predicate = $4::text AND m.predicate <> '' ORDER BY m.id",
)
# Free texts that share the most terms, with the cosine where both have a vector of one model.
_SIMILAR = f"""
WITH alike AS MATERIALIZED (
    SELECT i.memory_id, CASE WHEN i.model_id = $6::text THEN 1 - (i.embedding <=> $7::halfvec) END AS cosine
      FROM memory_index i
     WHERE i.tenant_id = $1::uuid AND i.scope = $2::text AND i.terms && $5::text[]
     ORDER BY cardinality(ARRAY(SELECT unnest(i.terms) INTERSECT SELECT unnest($5::text[]))) DESC, 1
     LIMIT {NEAR_LIMIT}
)"""
_COSINE = ", (SELECT s.cosine FROM alike s WHERE s.memory_id = m.id)"
_HELD = Prepared(
    "held_in_scope", "SELECT count(*) FROM memory_index WHERE tenant_id = $1::uuid AND scope = $2::text"
)
_LIVED_IN = """
SELECT s.name FROM unnest(%s::text[]) AS s (name)
 WHERE EXISTS (SELECT 1 FROM memory_index i WHERE i.tenant_id = %s AND i.scope = s.name)"""
_SAME = "m.predicate = '' AND (m.value_hash = $3::bytea OR (m.claim <> '' AND m.claim = $4::text)"
_ALIKE = "m.id = ANY(ARRAY(SELECT s.memory_id FROM alike s))"
_OF_TEXT = Prepared("known_of_text", f"{_ROWS}, NULL {_FROM} AND {_SAME})")
_OF_TEXT_AND_ALIKE = Prepared(
    "known_of_text_and_alike", f"{_SIMILAR}{_ROWS}{_COSINE}{_FROM} AND {_SAME} OR {_ALIKE})"
)


def rows_met(
    candidate: Candidate,
    value_hash: bytes,
    *,
    near: bool,
    vector: Direction | None = None,
    counted: bool = False,
) -> Met:
    """The rows to reconcile with, in one message; with `counted` also how full the scope is.

    Not locked: whoever changes one locks it and looks at its version again.  A triple meets the rows of its key; free
    text meets the same text, what claims something of the same thing, and with `near` what is worded alike.
    """
    count = _HELD([current_tenant_id(), str(candidate.scope)]) if counted else None
    held, found = _fetched(_statement(candidate, value_hash, near, vector), count)
    return _met(found, held)


def rows_met_many(asked: Sequence[tuple[Candidate, bytes, bool]]) -> list[Met]:
    """`rows_met` for several candidates with their hashes, `near` or not, in one message and without vectors."""
    lived = _lived_in({str(candidate.scope) for candidate, _, _ in asked})
    beside = [str(candidate.scope) in lived for candidate, _, _ in asked]
    statements = [_statement(*one) for one, some in zip(asked, beside, strict=True) if some]
    if not statements:
        return [Met([], {}) for _ in asked]
    with connection.cursor() as cursor:
        cursor.execute(
            ";\n".join(sql for sql, _ in statements), [one for _, values in statements for one in values]
        )
        return [_next(cursor) if some else Met([], {}) for some in beside]


def _lived_in(scopes: Collection[str]) -> set[str]:
    """Those that hold anything readable: where nothing is, nothing has to be looked for."""
    with connection.cursor() as cursor:
        cursor.execute(_LIVED_IN, [list(scopes), current_tenant_id()])
        return {name for (name,) in cursor.fetchall()}


def _next(cursor: CursorWrapper) -> Met:
    found = _met(cursor.fetchall())
    cursor.nextset()
    return found


def _statement(
    candidate: Candidate, value_hash: bytes, near: bool, vector: Direction | None = None
) -> Statement:
    where = [current_tenant_id(), str(candidate.scope)]
    if candidate.keyed:
        return _OF_KEY([*where, candidate.subject, candidate.predicate])
    return _texts_met(candidate, [*where, value_hash, claim_key(candidate.content)], near, vector)


def _met(found: list[tuple[Any, ...]], held: int = 0) -> Met:
    cosines = {row[0]: row[-1] for row in found if row[-1] is not None}
    known = [_known(row) for row in found]
    known.sort(key=lambda row: (-cosines.get(row.id, 0.0), row.id))
    return Met(known, cosines, held)


def _fetched(statement: Statement, count: Statement | None) -> tuple[int, list[tuple[Any, ...]]]:
    """A count, if one is asked for, and the rows of a statement, in one message."""
    with connection.cursor() as cursor:
        if count is None:
            cursor.execute(*statement)
            return 0, cursor.fetchall()
        cursor.execute(f"{count[0]};\n{statement[0]}", [*count[1], *statement[1]])
        (held,) = cursor.fetchone()
        cursor.nextset()
        return held, cursor.fetchall()


def _texts_met(candidate: Candidate, same: list[Any], near: bool, vector: Direction | None) -> Statement:
    """The statement for free text."""
    terms = query_terms(candidate.content) if near else []
    if not terms:
        return _OF_TEXT(same)
    model, values = (vector.model_id, vector_text(vector.values)) if vector else (None, None)
    return _OF_TEXT_AND_ALIKE([*same, terms, model, values])


def _known(row: tuple[Any, ...]) -> Known:
    """A row of `_ROWS` as reconciliation sees it."""
    (
        memory_id, version, status, content, value, value_hash, predicate, confidence, trust, origin, learned_at,
        valid_from, pinned, agent, session, subject, tool, expires_at,
        valid_to, begins_at, single_valued, _,
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
        expires_at=expires_at,
        valid_to=valid_to,
        begins_at=begins_at,
        single_valued=single_valued,
    )


def shown_to(session: str | None, among: Collection[UUID]) -> set[UUID]:
    """Which of these memories manifests of the session contained."""
    if not session or not among:
        return set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT memgov.shown_in(%s, %s, %s)", [current_tenant_id(), session, list(among)])
        return {row[0] for row in cursor.fetchall()}

"""Stored rows as the domain's rules see them."""

from __future__ import annotations

from memory.domain.scopes import parse_scope
from memory.domain.types import Candidate, Kind, Known, Layer, Origin, Status
from memory.models import Memory


def candidate_of(row: Memory) -> Candidate:
    """The row as if it were offered now, with the trust that it has."""
    return Candidate(
        content=row.content, scope=parse_scope(row.scope), subject=row.subject or None,
        predicate=row.predicate or None, value=row.value or None, layer=Layer(row.layer), kind=Kind(row.kind),
        origin=Origin(row.origin), trust=row.trust, confidence=row.confidence, importance=row.importance,
        session=row.session or None, task=row.task or None, tool=row.tool or None, input_hash=row.input_hash or None,
        derived_from=tuple(row.derived_from), paths=tuple(row.paths), tags=tuple(row.tags), expires_at=row.expires_at,
        valid_from=row.valid_from, valid_to=row.valid_to, review_by=row.review_by, metadata=row.metadata,
        agent=row.agent_id,
    )  # fmt: skip


def known_of(row: Memory) -> Known:
    """The row as something that is known already."""
    return Known(
        id=row.id, version=row.version, status=Status(row.status), content=row.content, value=row.value or None,
        value_hash=bytes(row.value_hash), predicate=row.predicate or None, confidence=row.confidence, trust=row.trust,
        origin=Origin(row.origin), learned_at=row.learned_at, valid_from=row.valid_from,
        pinned=row.pinned_at is not None, agent=row.agent_id, session=row.session or None,
        subject=row.subject or None, tool=row.tool or None, expires_at=row.expires_at, valid_to=row.valid_to,
        begins_at=row.begins_at, single_valued=row.single_valued,
    )  # fmt: skip

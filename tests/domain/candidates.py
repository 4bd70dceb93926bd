"""Plain candidates and known rows for the tests of the domain."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from memory.domain.ids import new_id
from memory.domain.normalise import content_of, value_hash
from memory.domain.scopes import parse_scope
from memory.domain.types import Candidate, Known, Origin, Status

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def candidate(content: str = "Invoices are sent on the first workday", **fields: Any) -> Candidate:
    """A sound candidate for project:alpha; `scope` may be given as text."""
    scope = fields.pop("scope", "project:alpha")
    c = Candidate(content=content, scope=parse_scope(scope), agent="agent-1")
    return replace(c, **fields)


def triple(predicate: str, value: str, subject: str = "user:42", **fields: Any) -> Candidate:
    return candidate(
        content_of(subject, predicate, value), subject=subject, predicate=predicate, value=value, **fields
    )


def known(c: Candidate, **fields: Any) -> Known:
    """The row that storing the candidate would have made."""
    row = Known(
        id=new_id(NOON),
        version=1,
        status=Status.LIVE,
        content=c.content,
        value=c.value,
        value_hash=value_hash(c.said),
        predicate=c.predicate,
        confidence=c.confidence,
        trust=c.trust,
        origin=Origin(c.origin),
        learned_at=NOON,
        valid_from=c.valid_from,
        agent=c.agent,
        session=c.session,
        subject=c.subject,
        tool=c.tool,
    )
    return replace(row, **fields)

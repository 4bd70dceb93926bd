"""What a writer offers and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.domain.types import Finding, OutcomeKind
from memory.models import Memory

UNSET: Final = object()
"""`ttl` was not given; None asks for the default, too."""


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A candidate as its writer sends it, already of the right types, not yet normalised.

    Identity is not here: it comes from the key.  `scope` None means the narrowest that fits.
    """

    content: str | None = None
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    scope: str | None = None
    layer: str | None = None
    kind: str | None = None
    origin: str | None = None
    confidence: float | None = None
    importance: float | None = None
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    input_hash: str | None = None
    derived_from: Sequence[UUID] = ()
    paths: Sequence[str] = ()
    tags: Sequence[str] = ()
    ttl: Any = UNSET
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    review_by: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a candidate.  A refusal is an outcome like the others, not an error.

    `memory` is the row that now stands for it (for a duplicate the known one), None when nothing does.
    """

    outcome: OutcomeKind
    policy_version: int
    decision_id: UUID
    reason: str | None = None
    rule: str | None = None
    memory: Memory | None = None
    replaced: Sequence[UUID] = ()
    linked: Sequence[UUID] = ()
    findings: Sequence[Finding] = ()

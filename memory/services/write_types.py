"""What a writer offers and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from memory.domain.defaults import RawCandidate
from memory.domain.types import Finding, OutcomeKind
from memory.models import Memory

WriteRequest = RawCandidate
"""A candidate as its writer sends it.  Identity is not in it: that comes from the key."""


STATUS_OF_OUTCOME: Final = {
    OutcomeKind.STORED: 201,
    OutcomeKind.SUPERSEDED: 201,
    OutcomeKind.DUPLICATE: 200,
    OutcomeKind.NEAR_DUPLICATE: 200,
    OutcomeKind.ECHO: 200,
    OutcomeKind.HELD: 202,
    OutcomeKind.REJECTED: 422,
}
"""The HTTP status that says the same, also inside a batch or job."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A candidate that nobody vouches for yet: it is held for a person whatever its origin.

    `reason` is why (`imported`); `learned_at` is when its own store last wrote it, None where that is not known.
    With `skip_conflicts` it is refused where a live memory says otherwise, instead of waiting beside it; with
    `settle_conflicts` the writer, a person who may settle contradictions, settles them in its favour for that reason.
    """

    reason: str
    learned_at: datetime | None = None
    skip_conflicts: bool = False
    settle_conflicts: str = ""


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
    explanation: str = ""
    memory: Memory | None = None
    replaced: Sequence[UUID] = ()
    linked: Sequence[UUID] = ()
    findings: Sequence[Finding] = ()


__all__ = ["STATUS_OF_OUTCOME", "Offer", "Outcome", "WriteRequest"]

"""Memories, the outcome of a write, revisions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from memgov_client.errors import RefusedError
from memgov_client.models.answers import AnswerModel

KEPT = frozenset({"stored", "superseded", "duplicate", "near_duplicate"})


class Party(AnswerModel):
    id: str | None = None
    name: str = ""


class AppliesTo(AnswerModel):
    """Path globs and tags that narrow where a memory applies."""

    paths: list[str] = []
    tags: list[str] = []


class Pin(AnswerModel):
    by: str
    reason: str = ""
    at: datetime | None = None
    until: datetime | None = None


class Finding(AnswerModel):
    """What sanitisation found: ``span`` counts characters in ``field``."""

    kind: str
    field: str
    span: list[int]
    rule: str


class Memory(AnswerModel):
    """A memory.  ``content`` is None where it is ``withheld``; in a list with ``fields`` only those are set.

    After a check ``id`` is None, because nothing was kept.
    """

    id: str | None = None
    version: int = 0
    status: str = ""
    status_reason: str | None = None
    scope: str = ""
    layer: str = ""
    kind: str = ""
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    content: str | None = None
    withheld: str | None = None
    applies_to: AppliesTo = AppliesTo()
    importance: float = 0.0
    confidence: float = 0.0
    trust: float = 0.0
    band: str = ""
    origin: str = ""
    agent: Party = Party()
    key: str | None = None
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    input_hash: str | None = None
    derived_from: list[str] = []
    also_learned_in: list[str] = []
    reproductions: int = 0
    use_count: int = 0
    pin: Pin | None = None
    superseded_by: str | None = None
    merged_into: str | None = None
    findings: list[Finding] = []
    metadata: dict[str, Any] = {}
    policy_version: int = 0
    recorded_at: datetime | None = None
    learned_at: datetime | None = None
    last_used_at: datetime | None = None
    expires_at: datetime | None = None
    review_by: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Outcome(AnswerModel):
    """What became of a candidate.  Refusals are outcomes too: look at ``kept``, or call `or_raise`."""

    outcome: str
    reason: str | None = None
    rule: str | None = None
    explanation: str = ""
    memory: Memory | None = None
    replaced: list[str] = []
    linked: list[str] = []
    findings: list[Finding] = []
    policy_version: int = 0
    id: str = ""
    http_status: int = Field(default=0, description="What the call answered, or would have.")

    @property
    def kept(self) -> bool:
        """Whether readers get it now: stored, or known already.  False for held, refused and echoes."""
        return self.outcome in KEPT

    @property
    def held(self) -> bool:
        """Whether it waits for a person: kept, and shown to nobody until then."""
        return self.outcome == "held"

    @property
    def rejected(self) -> bool:
        """Whether the policy refused it; ``reason`` says why.  Nothing was stored."""
        return self.outcome == "rejected"

    def or_raise(self) -> Outcome:
        """Itself, unless it was refused: then RefusedError, with this as its ``outcome``."""
        if not self.rejected:
            return self
        error = RefusedError(422, {"code": self.reason, "detail": self.explanation})
        error.outcome = self
        raise error


class Item(AnswerModel):
    """One item of a batch: its ``outcome``, or the ``problem`` it had.  ``status`` is what a write would answer."""

    index: int
    status: int
    outcome: Outcome | None = None
    problem: dict[str, Any] | None = None


class Revision(AnswerModel):
    """A version of a memory, as it was then.  ``state`` is empty where ``withheld`` is ``scope``: it was narrower then,
    and this key does not read there.
    """

    version: int
    at: datetime | None = None
    event: str = ""
    actor: str = ""
    reason: str | None = None
    state: dict[str, Any] = {}
    withheld: str | None = None

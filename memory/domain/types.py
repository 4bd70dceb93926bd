"""Words and values of the domain: enums, the candidate a writer offers, the row it is compared with.

Plain frozen data. No rules live here; a rule has its own module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

from memory.domain.scopes import Scope, ScopeKind, ScopeTier, Verb

__all__ = [
    "LONG_TERM_LAYERS", "Band", "Candidate", "Finding", "Kind", "Known", "Layer", "Origin", "OutcomeKind",
    "Provenance", "Scope", "ScopeKind", "ScopeTier", "Status", "Verb",
]  # fmt: skip


class Layer(StrEnum):
    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    PROCEDURE = "procedure"
    FEEDBACK = "feedback"
    EVENT = "event"


class Origin(StrEnum):
    SYSTEM_DEFINED = "system_defined"
    USER_EXPLICIT = "user_explicit"
    TOOL_VERIFIED = "tool_verified"
    TOOL_OUTPUT = "tool_output"
    USER_INPUT = "user_input"
    MODEL_INFERRED = "model_inferred"
    EXTERNAL = "external"


class Status(StrEnum):
    CANDIDATE = "candidate"
    LIVE = "live"
    CONTESTED = "contested"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    ARCHIVED = "archived"
    EVICTED = "evicted"
    EXPIRED = "expired"
    DELETED = "deleted"
    ERASED = "erased"


class OutcomeKind(StrEnum):
    STORED = "stored"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    ECHO = "echo"
    HELD = "held"
    REJECTED = "rejected"


class Band(StrEnum):
    FRESH = "fresh"
    AGING = "aging"
    OUTDATED = "outdated"


LONG_TERM_LAYERS: Final = frozenset({Layer.EPISODIC, Layer.SEMANTIC, Layer.PROCEDURAL})

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a writer offers, after defaults are filled in and text is normalised.

    `agent` is the writer as the key names it, never as the body does. `unknown_origin` keeps an origin
    word that the product does not know; admission refuses it. `removed` tells what no text can keep and was taken
    out: it is no suspicion, and said to the writer only.
    """

    content: str
    scope: Scope
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    layer: Layer = Layer.SEMANTIC
    kind: Kind = Kind.FACT
    origin: Origin = Origin.TOOL_OUTPUT
    trust: float = 0.5
    confidence: float = 0.7
    importance: float = 0.7
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    input_hash: str | None = None
    derived_from: tuple[UUID, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    review_by: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    agent: str | UUID | None = None
    unknown_origin: str | None = None
    removed: tuple[Finding, ...] = ()

    @property
    def keyed(self) -> bool:
        """A triple, not free text: it has a subject and a predicate."""
        return bool(self.subject and self.predicate)

    @property
    def strength(self) -> float:
        """Confidence × trust: what decides between two values of one key."""
        return self.confidence * self.trust

    @property
    def said(self) -> str:
        """What is compared for sameness: the value of a triple, the content of free text."""
        return self.value if self.keyed and self.value is not None else self.content


@dataclass(frozen=True, slots=True)
class Known:
    """A stored row of the same tenant and scope, as reconciliation sees it."""

    id: UUID
    version: int
    status: Status
    content: str
    value: str | None
    value_hash: bytes
    predicate: str | None
    confidence: float
    trust: float
    origin: Origin
    learned_at: datetime
    valid_from: datetime | None = None
    pinned: bool = False
    agent: str | UUID | None = None
    session: str | None = None
    subject: str | None = None
    tool: str | None = None
    expires_at: datetime | None = None
    valid_to: datetime | None = None
    begins_at: datetime | None = None
    """The beginning that it waits for, or waited for: whoever is to take another's place at an instant has one."""
    single_valued: bool = False

    def has_ended(self, now: datetime) -> bool:
        """Whether its time is over: no reader gets it any more, though no sweep has been there yet."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def strength(self) -> float:
        return self.confidence * self.trust

    @property
    def said(self) -> str:
        return self.value if self.predicate and self.value is not None else self.content


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the write pipeline saw: where, and by which rule. `span` counts characters of the field."""

    kind: str
    field: str
    span: tuple[int, int]
    rule: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory came from."""

    origin: Origin
    trust: float
    agent: str | UUID | None = None
    key: str | UUID | None = None
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    input_hash: str | None = None
    derived_from: tuple[UUID, ...] = ()

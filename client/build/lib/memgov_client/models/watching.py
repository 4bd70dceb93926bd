"""The key itself, promotions, health, audit, jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memgov_client.models.answers import AnswerModel
from memgov_client.models.memories import Party


class Tenant(AnswerModel):
    id: str
    slug: str
    name: str


class Key(AnswerModel):
    id: str
    prefix: str
    name: str = ""
    trust_ceiling: float = 1.0
    expires_at: datetime | None = None


class Grant(AnswerModel):
    pattern: str
    verbs: list[str]
    source: str


class WhoAmI(AnswerModel):
    """Who the key speaks for, and what it may do."""

    tenant: Tenant
    agent: Party
    role: str
    key: Key
    grants: list[Grant]
    limits: dict[str, int] = {}
    policy_version: int = 0
    embedder: str | None = None


class Actor(AnswerModel):
    kind: str
    id: str = ""
    name: str = ""


class PromotionDecision(AnswerModel):
    action: str
    reason: str = ""
    actor: str = ""
    at: datetime | None = None
    undone_at: datetime | None = None


class Question(AnswerModel):
    """What a reviewer asked, or the proposer answered."""

    kind: str
    text: str
    by: str = ""
    at: datetime | None = None


class Promotion(AnswerModel):
    """A request for a wider scope.  ``status`` is `pending` until it is decided."""

    id: str
    memory: str
    memory_version: int
    from_scope: str
    to_scope: str
    reason: str = ""
    trigger: str = ""
    proposer: Actor
    risk: str = ""
    risk_reasons: list[str] = []
    approvals_needed: int = 0
    status: str
    version: int = 0
    created_at: datetime | None = None
    decided_at: datetime | None = None
    result: str | None = None
    decisions: list[PromotionDecision] = []
    questions: list[Question] = []


class Metric(AnswerModel):
    """A figure of health; ``value`` is None, not 0, when there is no data."""

    value: float | None
    state: str
    unit: str = ""
    better: str = ""
    label: str = ""
    watch: float | None = None
    breach: float | None = None


class Spread(AnswerModel):
    low: float
    high: float


class Point(AnswerModel):
    at: datetime
    span: str = ""
    figures: dict[str, float | None]
    spread: dict[str, Spread] = {}


class Health(AnswerModel):
    scope: str | None = None
    at: datetime | None = None
    metrics: dict[str, Metric]
    details: dict[str, float | None] = {}
    series: list[Point] = []


class Target(AnswerModel):
    kind: str
    id: str


class Event(AnswerModel):
    """An audit event.  Memory text stands in it only as a keyed digest."""

    id: str
    seq: int
    at: datetime
    actor: Actor
    action: str
    target: Target
    scope: str | None = None
    reason: str | None = None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    policy_version: int | None = None
    request_id: str | None = None
    hash: str = ""


class Job(AnswerModel):
    """An asynchronous piece of work: `queued`, `running`, `done` or `failed`."""

    id: str
    kind: str
    status: str
    done: int = 0
    total: int = 0
    result: Any = None
    error: str | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in ("done", "failed")

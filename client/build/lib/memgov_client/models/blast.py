"""How far something got."""

from __future__ import annotations

from datetime import datetime

from memgov_client.models.answers import AnswerModel


class ReachCounts(AnswerModel):
    written: int = 0
    derived: int = 0
    readable: int = 0
    quarantined: int = 0
    holdable: int = 0
    manifests: int = 0
    agents: int = 0
    sessions: int = 0


class ReachMemory(AnswerModel):
    id: str
    version: int
    relation: str
    status: str
    scope: str
    agent: str = ""
    recorded_at: datetime | None = None


class ReachManifest(AnswerModel):
    manifest: str
    name: str = ""
    count: int = 0
    used: int = 0
    last_at: datetime | None = None


class ReachAgent(AnswerModel):
    agent: str | None = None
    name: str = ""
    count: int = 0
    used: int = 0
    last_at: datetime | None = None


class ReachSession(AnswerModel):
    session: str
    reads: int = 0
    last_at: datetime | None = None


class ReachDecision(AnswerModel):
    at: datetime | None = None
    actor: str = ""
    action: str = ""
    target: str = ""
    reason: str | None = None


class Reach(AnswerModel):
    """What was written and derived, who was given it, what was decided.  ``seen`` is the instant it is true for."""

    seen: datetime
    counts: ReachCounts = ReachCounts()
    memories: list[ReachMemory] = []
    next: str | None = None
    manifests: list[ReachManifest] = []
    agents: list[ReachAgent] = []
    sessions: list[ReachSession] = []
    decisions: list[ReachDecision] = []

"""Working memory, and the ends of tasks and sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memgov_client.models.answers import AnswerModel
from memgov_client.models.memories import Finding


class WorkingValue(AnswerModel):
    """A value of a task.  `quarantined`: kept for its writer, given to no prompt."""

    id: str
    task: str
    key: str
    value: Any
    version: int
    status: str
    succeeded: bool | None = None
    importance: float | None = None
    summary: str | None = None
    origin: str = ""
    trust: float = 0.0
    session: str | None = None
    tool: str | None = None
    findings: list[Finding] = []
    recorded_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None


class Step(AnswerModel):
    """What became of a step of the task: the memory it was offered as."""

    outcome: str
    reason: str | None = None
    memory: str | None = None
    key: str | None = None


class TaskEnd(AnswerModel):
    """What became of the steps: ``promoted`` one by one, the rest in one ``episode``."""

    task: str
    status: str
    outcome: str = ""
    promoted: list[Step] = []
    episode: Step | None = None
    counts: dict[str, int] = {}
    ended_at: datetime | None = None


class Rollback(AnswerModel):
    """Ids that were ``removed``, that stand again (``restored``), and that were ``left``: others changed them."""

    task: str
    status: str
    removed: list[str] = []
    restored: list[str] = []
    left: list[str] = []
    working: int = 0
    ended_at: datetime | None = None


class TaskState(AnswerModel):
    task: str
    status: str
    ended_at: datetime | None = None


class SessionEnd(AnswerModel):
    """Counts by outcome; ``left`` names the memories that stay in the session, with the reason."""

    session: str
    status: str
    counts: dict[str, int] = {}
    left: dict[str, Any] = {}
    ended_at: datetime | None = None

"""What a bulk deletion did."""

from __future__ import annotations

from datetime import datetime

from memgov_client.models.answers import AnswerModel
from memgov_client.models.watching import Job


class DoomedMemory(AnswerModel):
    id: str
    version: int
    status: str
    scope: str
    recorded_at: datetime | None = None


class LeftMemory(AnswerModel):
    memory: str
    reason: str


class Deletion(AnswerModel):
    """``deleted`` went, ``matched`` would go, ``derived`` more were derived from them; ``left`` counts what stays, by
    reason.  ``job`` is there while a large step goes on."""

    dry_run: bool = False
    deleted: int = 0
    matched: int = 0
    derived: int | None = None
    memories: list[DoomedMemory] = []
    derived_memories: list[DoomedMemory] = []
    not_found: list[str] = []
    already: list[str] = []
    left: dict[str, int] = {}
    left_named: list[LeftMemory] = []
    seen: datetime | None = None
    seal: str = ""
    step: str | None = None
    job: Job | None = None

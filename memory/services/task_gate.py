"""A write that names a task holds the task open, so that a rollback sees either all of it or nothing."""

from __future__ import annotations

from datetime import datetime

from memory.services.errors import Conflict
from memory.store import work
from tenants.principals import Principal


def task_open(principal: Principal, task: str | None, now: datetime) -> None:
    """Share the agent's task until the write is committed.  Raises `Conflict` when it was rolled back."""
    if task is None or principal.agent_id is None:
        return
    if work.share_run(principal, work.TASK, task, now) == work.ROLLED_BACK:
        raise Conflict(
            "the task was rolled back; nothing was stored, use another task name", code="task_ended"
        )

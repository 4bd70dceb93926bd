"""Working memory of a task by key, and the ends of tasks and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Answer, Call, given, path, plain
from memgov_client.calls import reading_answers as read
from memgov_client.models import Page, Rollback, SessionEnd, TaskEnd, TaskState, WorkingValue


class StepFields(TypedDict, total=False):
    """What a step was worth, beside its value."""

    ttl: int | str | timedelta | None
    succeeded: bool | None
    importance: float | None
    summary: str | None
    origin: str | None
    confidence: float | None
    session: str | None
    tool: str | None


def put_working(
    task: str, key: str, value: Any, *, version: int | None = None, **fields: Unpack[StepFields]
) -> Call[WorkingValue]:
    """Keep a value (any JSON, at most 64 KiB) under a key of the task, for an hour unless ``ttl`` says otherwise.

    RefusedError when the policy refuses it; look at ``status`` for one that is held.
    """
    return Call(
        "update_memory", "PUT", path("tasks", task, "working", key), read.one(WorkingValue),
        body={"value": plain(value), **given(fields)}, repeatable=version is None,
        headers={} if version is None else {"If-Match": f'"{version}"'},
    )  # fmt: skip


def get_working(task: str, key: str) -> Call[WorkingValue]:
    """The value under a key.  NotFoundError when there is none."""
    return Call(
        "get_memory", "GET", path("tasks", task, "working", key), read.one(WorkingValue), repeatable=True
    )


def list_working(task: str) -> Call[list[WorkingValue]]:
    """All values of the task."""
    return Call("list_memories", "GET", path("tasks", task) + "/working", _values, repeatable=True)


def delete_working(task: str, key: str) -> Call[None]:
    """Drop a value."""
    return Call("delete_memory", "DELETE", path("tasks", task, "working", key), read.nothing)


def complete_task(
    task: str,
    *,
    outcome: str | None = None,
    summary: str | None = None,
    succeeded: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> Call[TaskEnd]:
    """End a task: steps that worked become episodic memories of the agent's role, the rest one episode."""
    return Call(
        "complete_task", "POST", path("tasks", task) + "/complete", read.one(TaskEnd),
        body=given({"outcome": outcome, "summary": summary, "succeeded": succeeded}),
        keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def roll_back_task(task: str, reason: str = "", *, idempotency_key: str | None = None) -> Call[Rollback]:
    """Remove everything that was written with this task, and restore what it replaced."""
    return Call(
        "roll_back_task", "POST", path("tasks", task) + "/rollback", read.one(Rollback), body={"reason": reason},
        keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def undo_rollback(task: str, *, idempotency_key: str | None = None) -> Call[TaskState]:
    """Take a rollback back, within 30 days."""
    return Call(
        "undo_rollback", "POST", path("tasks", task) + "/rollback/undo", read.one(TaskState), body={},
        keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def end_session(session: str, *, idempotency_key: str | None = None) -> Call[SessionEnd]:
    """Offer what the session learned to the agent role's scope."""
    return Call(
        "end_session", "POST", path("sessions", session) + "/end", read.one(SessionEnd), body={},
        keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def _values(answer: Answer) -> list[WorkingValue]:
    found: Page[WorkingValue] = read.page(WorkingValue)(answer)
    return found.results

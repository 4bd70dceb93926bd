"""Deleting many memories at once, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Answer, Call, given, path
from memgov_client.calls import reading_answers as read
from memgov_client.models import Deletion, Job


class DeletionFilter(TypedDict, total=False):
    """Conditions that all hold; several of one kind mean any of them."""

    scope: Sequence[str]
    status: Sequence[str]
    kind: Sequence[str]
    layer: Sequence[str]
    origin: Sequence[str]
    subject: str
    predicate: str
    agent: str
    session: str
    task: str
    tool: str
    band: str
    pinned: bool
    q: str
    updated_after: datetime | str
    recorded_after: datetime | str
    recorded_before: datetime | str


class DeletionFields(TypedDict, total=False):
    """How far it goes: with what was derived (``cascade``), only asking (``dry_run``), and bound to a look with
    the same ``cascade`` (``seen``, ``seal``)."""

    cascade: bool | None
    dry_run: bool | None
    seen: datetime | str | None
    seal: str | None


def delete_many(
    reason: str,
    *,
    ids: Sequence[str] | None = None,
    filter: DeletionFilter | None = None,
    idempotency_key: str | None = None,
    **fields: Unpack[DeletionFields],
) -> Call[Deletion]:
    """Delete memories by their ids or by a filter, in one step.  A large step has a ``job`` to follow.

    A filter that names nothing, and one that matches nothing, are errors.  ``dry_run`` says what would go, what is
    left and why, and what was derived.
    """
    body = given({"ids": ids, "filter": filter, "reason": reason, **fields})
    return Call(
        "delete_memory",
        "POST",
        "memories/delete",
        _deletion,
        body=body,
        keyed=True,
        idempotency_key=idempotency_key,
    )


def undo_deletion(step: str, *, idempotency_key: str | None = None) -> Call[Job]:
    """Take such a step back; its id is ``step`` of the answer, or that of the job."""
    return Call(
        "delete_memory", "POST", path("memories", "delete", step) + "/undo", read.one(Job), body={}, keyed=True,
        idempotency_key=idempotency_key,
    )  # fmt: skip


def _deletion(answer: Answer) -> Deletion:
    """What was deleted; of a large step (202) the job."""
    if answer.status == 202:
        job = read.one(Job)(answer)
        return Deletion(step=job.id, matched=job.total, job=job)
    return read.one(Deletion)(answer)

"""The blast radius: how far something got, holding all of it, and taking that back."""

from __future__ import annotations

from datetime import datetime

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Call, as_params, given, path
from memgov_client.calls import reading_answers as read
from memgov_client.models import Job, Reach


class Seed(TypedDict, total=False):
    """Where to begin, by conditions that all hold; ``seen`` leaves out what was recorded later."""

    memory: str | None
    agent: str | None
    key: str | None
    session: str | None
    tool: str | None
    source: str | None
    since: datetime | str | None
    until: datetime | str | None
    seen: datetime | str | None


def blast(*, before: str | None = None, page_size: int | None = None, **seed: Unpack[Seed]) -> Call[Reach]:
    """How far something got.  Takes a read grant on `*`.  ``before`` is the last memory of the page before."""
    return Call(
        "get_blast_radius", "GET", "blast", read.one(Reach),
        params=as_params({**seed, "before": before, "page_size": page_size}), repeatable=True,
    )  # fmt: skip


def quarantine_blast(reason: str, *, idempotency_key: str | None = None, **seed: Unpack[Seed]) -> Call[Job]:
    """Hold all of it in one step.  Give ``seen`` of the answer that you decided on.  Follow the job."""
    return Call(
        "quarantine_blast_radius", "POST", "blast/quarantine", read.one(Job),
        body=given({**seed, "reason": reason}), keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def undo_quarantine(job_id: str, *, idempotency_key: str | None = None) -> Call[Job]:
    """Take such a step back."""
    return Call(
        "undo_quarantine", "POST", path("blast", "steps", job_id) + "/undo", read.one(Job), body={}, keyed=True,
        idempotency_key=idempotency_key,
    )  # fmt: skip

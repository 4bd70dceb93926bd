"""Taking up a job of any kind, and giving one up that no worker gets further with.

A worker that dies leaves its job to the next one.  A job that kills every worker, or breaks each time, must not go
round for ever: it is tried three times, counted anew whenever work that stays was done.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Job
from memory.store import audit, jobs
from tenants.principals import Principal

MOST_TAKES: Final = 3
GIVEN_UP: Final = (
    "it was begun three times and broke off each time without getting further; it is not tried again"
)


def taken(job_id: UUID) -> Job | str:
    """The job, now this worker's; or why not: `busy` when another worker is at it, `gone` otherwise."""
    job = jobs.take(job_id, clock.now())
    if job is None:
        return "busy" if jobs.is_held(job_id) else "gone"
    return job


def worn_out(job: Job) -> bool:
    """Whether the job, just taken, was taken too often already."""
    return job.takes > MOST_TAKES


def give_up(job: Job, actor: Principal, error: str = GIVEN_UP) -> str:
    """End a job as failed, audited, in the present transaction; what it had done until now stays done."""
    now = clock.now()
    jobs.end(job, jobs.FAILED, now, error)
    after = {"kind": job.kind, "entries": jobs.progress(job.id)}
    audit.append(
        actor, [audit.Event("job.given_up", "job", show_id("job", job.id), reason=error, after=after)], now
    )
    return jobs.FAILED

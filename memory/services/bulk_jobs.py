"""Jobs of many memories: asked for by a person or an agent, taken up by a worker, taken back as one step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memgov.ids import new_id
from memory.domain.ids import parse_id, show_id
from memory.models import Job
from memory.selectors.policies import active_policy
from memory.services.access import denial_recorded
from memory.services.bulk_work import Work
from memory.services.errors import Conflict, Denied, NotFound
from memory.services.job_queue import dispatch
from memory.services.job_takes import give_up, taken, worn_out
from memory.store import audit, jobs
from tenants.context import tenant_context
from tenants.principals import Principal


def asked_for(
    principal: Principal,
    kind: str,
    request: dict[str, Any],
    total: int,
    shown: dict[str, Any],
    now: datetime,
    *,
    status: str = jobs.QUEUED,
) -> Job:
    """A job that carries who asked; a queued one with its message to a worker.  `shown` is what its page tells."""
    job = Job(
        id=new_id(now), kind=kind, status=status, agent_id=principal.agent_id, key_id=principal.key_id,
        actor_name=principal.name, total=total, result=shown, created_at=now, touched_at=now,
    )  # fmt: skip
    actor = {"kind": principal.kind, "id": principal.id, "name": principal.name}
    jobs.insert(job, {**request, "actor": actor})
    if status == jobs.QUEUED:
        dispatch(principal.tenant_id, job.id, kind)
    return job


def noted(principal: Principal, job: Job, action: str, now: datetime, **more: Any) -> None:
    """The audit event of what somebody asked of a job."""
    more.setdefault("policy_version", active_policy().number)
    audit.append(principal, [audit.Event(action, "job", show_id("job", job.id), **more)], now)


def taken_up(tenant_id: UUID, job_id: UUID, reopen: Callable[[Work], None]) -> Work | str:
    """The job, now this worker's; or why not: `busy` when another worker is at it, `failed` when too many were lost on
    it, `gone` otherwise.

    `reopen`: what is done, in the transaction that gives the job up, so that its step can be taken back by another."""
    with tenant_context(tenant_id):
        job = taken(job_id)
        if isinstance(job, str):
            return job
        work = Work(tenant_id, job, jobs.request_of(job), active_policy().number)
        if worn_out(job):
            reopen(work)
            return give_up(job, work.actor)
        return work


def stopped(work: Work, denied: Denied, reopen: Callable[[Work], None]) -> str:
    """End a job whose asker may not have it done any more, audited; `reopen` as in `taken_up`."""
    denial_recorded(work.actor, denied)
    with tenant_context(work.tenant_id):
        reopen(work)
        return give_up(work.job, work.actor, denied.detail)


def reopen_step(work: Work) -> None:
    """Let the step that a job was to take back be taken back by another; of a job for anything else nothing."""
    if "step" not in work.request:
        return
    step = jobs.lock(parse_id("job", work.request["step"]))
    if step is not None:
        kept = {name: value for name, value in (step.result or {}).items() if name != "undone_by"}
        jobs.keep_result(step, kept)


def earlier_attempts(work: Work) -> list[datetime]:
    """The instants of other jobs that began to take the same step back."""
    told = {"result__step": work.request["step"]}
    others = Job.objects.filter(kind=work.job.kind, **told).exclude(id=work.job.id)
    return list(others.values_list("created_at", flat=True))


def to_take_back(principal: Principal, job_id: UUID, kind: str, now: datetime) -> Job:
    """The step, locked, if it may be taken back now; an agent takes back its own only.

    Raises `NotFound`, and `Conflict` while it runs, when it was taken back, or after the time in which a removal can be
    undone.
    """
    done = jobs.lock(job_id)
    foreign = principal.kind == "agent" and done is not None and done.agent_id != principal.agent_id
    if done is None or done.kind != kind or foreign:
        raise NotFound("there is no such step")
    if done.status not in (jobs.DONE, jobs.FAILED):
        raise Conflict("the step is still under way; take it back when it has ended", code="under_way")
    if (done.result or {}).get("undone_by"):
        raise Conflict("the step was taken back already; nothing was changed", code="already_decided")
    keep = timedelta(days=active_policy().policy.retention.restore_days)
    if now - done.created_at > keep:
        raise Conflict(f"a step can be taken back for {keep.days} days", code="undo_too_late")
    return done


def marked_undone(step: Job, by: Job) -> None:
    """Note on a locked step which job takes it back: one is enough."""
    jobs.keep_result(step, {**(step.result or {}), "undone_by": show_id("job", by.id)})

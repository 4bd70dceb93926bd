"""Tasks: those that nobody wrote to for long are ended, values past their time are dropped, and asynchronous
writes that got stuck are sent again.

Readers have not been shown those values since their time was over.  A task that is ended here is opened again by
its next write.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory.models import SweepRun
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.working import idle_runs, last_written
from memory.services.job_queue import dispatch
from memory.services.sweeps.run import Progress, Run, running
from memory.store import audit, jobs, work
from tenants.context import tenant_context

_BATCH: Final = 500
_STRANDED_AFTER: Final = timedelta(minutes=5)


def sweep_tasks(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """End abandoned tasks and drop what expired, batch by batch."""
    with running(tenant_id, "tasks", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
        while not dry_run and _drop(run, active):
            run.tell()
        while _end(run, active, dry_run=dry_run) and not dry_run:
            run.tell()
        with tenant_context(tenant_id):
            if not dry_run:
                _send_again(run)
            run.finish()
    return run.result()


def _drop(run: Run, active: ActivePolicy) -> bool:
    """One batch of values; whether there may be more."""
    kept_since = run.now - timedelta(days=active.policy.retention.restore_days)
    with tenant_context(run.tenant_id):
        return work.drop_values(run.now, kept_since, _BATCH) == _BATCH


def _end(run: Run, active: ActivePolicy, *, dry_run: bool) -> bool:
    """One batch of tasks; whether there may be more."""
    since = run.now - timedelta(seconds=active.policy.working.abandoned_after_seconds)
    with tenant_context(run.tenant_id):
        idle = idle_runs(work.TASK, since, _BATCH)
        over = [one for one in idle if last_written(one) <= since]
        run.record.changed += len(over)
        if dry_run:
            return False
        ended = work.abandon([one.id for one in over], since, run.now)
        work.note_activity({one.id: last_written(one) for one in idle if one not in over})
        audit.append(run.actor, [_event(active, name) for name in ended], run.now)
        return len(idle) == _BATCH


def _send_again(run: Run) -> None:
    """Jobs whose message was lost, or whose worker died with the broker."""
    for job_id, kind in jobs.stranded(run.now - _STRANDED_AFTER, _BATCH):
        dispatch(run.tenant_id, job_id, kind)


def _event(active: ActivePolicy, task: str) -> audit.Event:
    scope = f"{work.TASK}:{task}"
    return audit.Event(
        "task.abandoned", "task", scope, scope=scope, reason="nobody wrote to it for long",
        policy_version=active.number,
    )  # fmt: skip

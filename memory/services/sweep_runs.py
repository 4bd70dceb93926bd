"""What people do about a run of a sweep: let a stopped one go ahead, and bring back all that one took, as one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from memgov import clock
from memgov.celery import app
from memory import schedule
from memory.domain.ids import show_id
from memory.models import Alert, Job, SweepRun
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.alerts_watch import SWEEP_STOPPED
from memory.services.bulk_jobs import asked_for, stopped, taken_up
from memory.services.bulk_work import Giving, Taking, Work, take_back
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.rights_now import asker
from memory.services.sweeps.guard import APPROVED_FOR
from memory.store import alerts, audit, bulk
from tenants.context import tenant_context
from tenants.principals import Principal

UNDO: Final = "sweep.undo"
BACK_EVENT: Final = "memory.sweep_undone"
EVENTS: Final[Mapping[str, str]] = {
    "decay": "memory.evicted", "compaction": "memory.archived", "expiry": "memory.expired",
    "episodes": "memory.archived", "dedup": "memory.merged", "poisoning": "memory.quarantined",
}  # fmt: skip
"""What each sweep does to a memory that it takes."""


DEAD_AFTER: Final = timedelta(hours=6)
"""A run that says for so long that it runs was killed; what it had committed until then can be brought back."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What may still be done about a run."""

    can_apply: bool
    can_undo: bool
    why_not: str = ""


def standing(run: SweepRun, policy_version: int, restore_days: int) -> Standing:
    """Whether a stopped run can be let go, and what a run took be brought back.  Asks for the sweep's last run."""
    now = clock.now()
    days = timedelta(days=restore_days)
    ended = run.status in ("done", "stopped", "failed") or now - run.started_at >= DEAD_AFTER
    ended = ended and not run.dry_run
    undo = ended and run.changed > 0 and run.name in EVENTS and not run.details.get("undone_by")
    undo = undo and now - run.started_at <= days
    if not run.details.get("held") or run.dry_run or run.status == "running":
        return Standing(False, undo)
    return Standing(not (why := _why_not(run, policy_version)), undo, why)


def _why_not(run: SweepRun, policy_version: int) -> str:
    if run.details.get("approved"):
        return "it was let go already"
    if run.policy_version != policy_version:
        return "the policy has changed since; the next run goes by the new one"
    later = SweepRun.objects.filter(name=run.name, dry_run=False, started_at__gt=run.started_at)
    if later.exclude(status="running").exists():
        return "the sweep has run again since; decide on its last run"
    return ""


@denials_audited
def sweep_apply(actor: Principal, run_id: UUID, reason: str) -> SweepRun:
    """Let a stopped run go ahead: the next one, started at once, takes at most what this one had named, scope by scope.

    Bound to this run: raises `Conflict` when it was decided, when the policy has changed, or when the sweep has run
    since; `Invalid` without a reason, `NotFound`.
    """
    require_role(actor, REVIEWERS, "let a stopped sweep go ahead")
    if not reason.strip():
        raise Invalid(
            "say why it may go ahead: the next reviewer will ask", code="reason_needed", field="reason"
        )
    now = clock.now()
    with tenant_context(actor.tenant_id):
        run, active = _locked(run_id), active_policy()
        held = run.details.get("held")
        if run.status == "running":
            raise Conflict("the sweep still runs; decide when it has ended", code="under_way")
        if not held or run.dry_run:
            raise Conflict("the run was not stopped; there is nothing to let go", code="not_stopped")
        if why := _why_not(run, active.number):
            raise Conflict(f"{why}; nothing was changed", code="already_decided")
        scopes = {scope: said["removable"] for scope, said in held.items()}
        word = {"by": actor.name, "at": now.timestamp(), "reason": reason.strip()[:500], "scopes": scopes}
        run.details = {**run.details, "approved": word}
        bulk.note_details(run.id, run.details)
        events = [audit.Event("sweep.approved", "sweep", f"run_{run.id.hex}", reason=reason.strip(),
                              after={"sweep": run.name, "scopes": scopes}, policy_version=active.number)]  # fmt: skip
        for alert in Alert.objects.filter(kind=SWEEP_STOPPED, acknowledged_at=None, target=run.name):
            alerts.update(alert, acknowledged_at=now, acknowledged_by=actor.name, note=reason.strip()[:500])
            events.append(
                audit.Event("alert.acknowledged", "alert", show_id("alr", alert.id), scope=alert.scope)
            )
        audit.append(actor, events, now)
        given = [run.name, str(actor.tenant_id)]
        expires = APPROVED_FOR.total_seconds()
        transaction.on_commit(lambda: app.send_task(schedule.RUN, given, expires=expires), robust=True)
    return run


@denials_audited
def sweep_undo(actor: Principal, run_id: UUID, reason: str) -> Job:
    """Bring back all that one run took, as one step: a job.  What has changed since, or lost its place to what lives
    now, is left and named.

    Raises `Conflict` for a run that took nothing, still runs, was undone, or is too old; `Invalid`, `NotFound`.
    """
    require_role(actor, REVIEWERS, "undo a sweep")
    if not reason.strip():
        raise Invalid(
            "say why it comes back: the next reviewer will ask", code="reason_needed", field="reason"
        )
    now = clock.now()
    with tenant_context(actor.tenant_id):
        run, active = _locked(run_id), active_policy()
        days = active.policy.retention.restore_days
        if run.name not in EVENTS or run.dry_run or not run.changed:
            raise Conflict("the run took nothing; there is nothing to bring back", code="nothing_to_do")
        if run.status == "running" and now - run.started_at < DEAD_AFTER:
            raise Conflict(
                "the sweep still runs; bring back what it took when it has ended", code="under_way"
            )
        if run.details.get("undone_by"):
            raise Conflict("the run was undone already; nothing was changed", code="already_decided")
        if now - run.started_at > timedelta(days=days):
            raise Conflict(
                f"removals can be undone for {days} days; this run is older", code="restore_too_late"
            )
        shown = f"run_{run.id.hex}"
        request = {"run": run.id.hex, "reason": reason.strip()[:500]}
        told = {"run": shown, "sweep": run.name, "reason": request["reason"]}
        job = asked_for(actor, UNDO, request, run.changed, told, now)
        bulk.note_details(run.id, {**run.details, "undone_by": show_id("job", job.id)})
        after = {"sweep": run.name, "entries": run.changed}
        event = audit.Event("sweep.undo_started", "sweep", shown, reason=request["reason"], after=after,
                            policy_version=active.number)  # fmt: skip
        audit.append(actor, [event], now)
    return job


def _locked(run_id: UUID) -> SweepRun:
    run: SweepRun | None = SweepRun.objects.select_for_update().filter(id=run_id).first()
    if run is None:
        raise NotFound("there is no such run")
    return run


def _reopen(work: Work) -> None:
    """Let the run be undone by another job."""
    run = _locked(UUID(hex=work.request["run"]))
    bulk.note_details(run.id, {name: value for name, value in run.details.items() if name != "undone_by"})


def sweep_undo_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on the job until it is done: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise."""
    work = taken_up(tenant_id, job_id, _reopen)
    if isinstance(work, str):
        return work
    with tenant_context(tenant_id):
        run = SweepRun.objects.get(id=UUID(hex=work.request["run"]))
        others = Job.objects.filter(kind=UNDO, result__run=f"run_{run.id.hex}").exclude(id=job_id)
        earlier = list(others.values_list("created_at", flat=True))
    taking = Taking(f"run_{run.id.hex}", EVENTS[run.name], run.started_at)
    giving = Giving(BACK_EVENT, work.request["reason"], asker, unend=run.name == "expiry", earlier=earlier)
    try:
        take_back(work, taking, giving)
    except Denied as denied:
        return stopped(work, denied, _reopen)
    return work.end("sweep.undone")

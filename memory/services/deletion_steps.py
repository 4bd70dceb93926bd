"""Deleting many memories in one step, and taking that step back.

A small step is done at once, in one transaction.  A large one is a job: every batch changes rows, index, revisions and
the job's progress in one statement and commits with its audit events; a worker that dies leaves whole batches behind,
and the next one goes on, because what is gone no longer matches.  What was deleted is found again by its audit events,
which carry the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from memgov import clock
from memory.domain.ids import parse_id, show_id
from memory.models import Job
from memory.selectors import deletions as found
from memory.selectors.deletions import Chosen
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, reason_fits, require_role
from memory.services.bulk_jobs import (
    asked_for,
    earlier_attempts,
    marked_undone,
    noted,
    reopen_step,
    stopped,
    taken_up,
    to_take_back,
)
from memory.services.bulk_work import Giving, Taking, Work, take_back
from memory.services.deletion import (
    Left,
    Look,
    Wish,
    as_json,
    from_json,
    left_of,
    look,
    nothing_goes,
)
from memory.services.errors import Denied, Invalid, VersionConflict
from memory.services.rights_now import asker
from memory.store import bulk_steps, jobs
from tenants.context import tenant_context
from tenants.principals import Principal

DELETE: Final = "memories.delete"
UNDO: Final = "memories.undelete"
KINDS: Final = (DELETE, UNDO)
GONE_EVENT: Final = "memory.deleted"
BACK_EVENT: Final = "memory.undeleted"
AT_ONCE: Final = 500
"""Up to this many go while the caller waits."""
_BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Deletion:
    """A step: what was seen when it was decided, and the job, which has ended unless it is large."""

    look: Look
    job: Job


@denials_audited
def deletion_look(principal: Principal, wish: Wish) -> Look:
    """What a deletion would take and leave; nothing is changed.  Raises `Invalid`, `Denied`."""
    now = _asked_rightly(principal, wish)
    with tenant_context(principal.tenant_id):
        return look(principal, wish.chosen, wish.seen or now, now, cascade=wish.cascade)


@denials_audited
def memories_delete(principal: Principal, wish: Wish) -> Deletion:
    """Delete what is named (tombstones, restorable for 30 days); with `cascade` what was derived from it as well.

    The step exists, audited, when this returns; up to `AT_ONCE` memories are gone by then.  Raises `Invalid` without a
    condition or a reason, `VersionConflict` when something else would go than what the seal stands for, and `NotFound`,
    `Denied` or `Conflict` when nothing would go.
    """
    now = _asked_rightly(principal, wish)
    if not wish.reason.strip():
        raise Invalid("say why they are deleted", code="reason_needed", field="reason")
    reason_fits(wish.reason)
    with tenant_context(principal.tenant_id):
        seen = look(principal, wish.chosen, wish.seen or now, now, cascade=wish.cascade)
        if wish.seal and wish.seal != seen.sealed(wish.cascade):
            raise VersionConflict(
                "something else would go by now than what you saw; nothing was deleted, look again"
            )
        if not seen.going:
            raise nothing_goes(wish.chosen, seen)
        total = seen.going + ((seen.derived or 0) if wish.cascade else 0)
        at_once = total <= AT_ONCE
        job = _step(principal, wish, seen, total, now, jobs.RUNNING if at_once else jobs.QUEUED)
        if at_once:
            work = Work(principal.tenant_id, job, jobs.request_of(job), active_policy().number)
            _delete(work, lambda _work: principal)
            job.refresh_from_db()
        else:
            noted(principal, job, "memories.delete_started", now, reason=wish.reason.strip(),
                  after={"entries": total, **_about(as_json(wish.chosen))})  # fmt: skip
    return Deletion(seen, job)


def _asked_rightly(principal: Principal, wish: Wish) -> datetime:
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "delete memories")
    if not wish.chosen.given:
        raise Invalid(
            "name the memories, by ids or by a filter; nothing was deleted",
            code="filter_needed",
            field="filter",
        )
    now = clock.now()
    if wish.seen is not None and wish.seen > now:
        raise Invalid("the instant at which it was looked at lies in the future", field="seen")
    return now


def _step(principal: Principal, wish: Wish, seen: Look, total: int, now: datetime, status: str) -> Job:
    """The job.  It shows why, and by which conditions; what these said is forgotten with the request."""
    chosen = as_json(wish.chosen)
    asked = {"reason": wish.reason.strip()[:500], "cascade": wish.cascade}
    request = {**asked, "chosen": chosen, "seen": seen.seen.isoformat()}
    return asked_for(principal, DELETE, request, total, {**asked, **_about(chosen)}, now, status=status)


def _about(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What a step was asked for: how many ids, or the names of the conditions.  Their values may be texts of somebody
    who is to be forgotten, which neither the chain nor the job holds."""
    if "ids" in chosen:
        return {"ids": len(chosen["ids"])}
    if "filter" in chosen:
        return {"filter": sorted(chosen["filter"])}
    # Of the explorer a box that is not ticked is no condition.
    return {"filter": sorted(name for name, value in chosen["explorer"].items() if value)}


def deletion_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on a step until it is done: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise."""
    work = taken_up(tenant_id, job_id, reopen_step)
    if isinstance(work, str):
        return work
    try:
        return _undelete(work) if work.job.kind == UNDO else _delete(work, asker)
    except Denied as denied:
        return stopped(work, denied, reopen_step)


def _asked(work: Work) -> tuple[Chosen, datetime]:
    """What is meant, and until which instant."""
    return from_json(work.request["chosen"]), datetime.fromisoformat(work.request["seen"])


def _delete(work: Work, who: Callable[[Work], Principal]) -> str:
    """All batches of what may go, from the start: what a worker that died had deleted matches no more.

    Up to `AT_ONCE` are one batch, so that their locks are taken in the order of their ids."""
    place = UUID(int=0)
    while True:
        principal = who(work)
        with tenant_context(work.tenant_id):
            now = clock.now()
            rows = _judged(work, principal, now)
            batch = found.after(rows.filter(left=""), place, _BATCH)
            _take(work, principal, batch, rows, now)
            jobs.touch(work.job.id, now)
        if len(batch) < _BATCH:
            break
        place = batch[-1][0]
    with tenant_context(work.tenant_id):
        left = _left(work, principal, clock.now())
        told = {
            "left": left.total,
            "left_reasons": left.counts,
            "left_named": [one["memory"] for one in left.named],
        }
        jobs.keep_result(work.job, {**(work.job.result or {}), **told})
        about = _about(work.request["chosen"])
        return work.end("memories.deleted", work.request["reason"], cascade=work.request["cascade"], **about)


def _judged(work: Work, principal: Principal, now: datetime) -> QuerySet[Any]:
    chosen, seen = _asked(work)
    return found.judged(principal, chosen, seen, active_policy().policy, now)


def _take(
    work: Work, principal: Principal, batch: Sequence[tuple[UUID, int]], rows: QuerySet[Any], now: datetime
) -> None:
    """One batch of the judged rows, with what was derived from it; inside its transaction."""
    wanted = dict(batch)
    if work.request["cascade"]:
        ids = found.derived_from(list(wanted), rows)
        along = found.judged_derived(principal, ids, _asked(work)[1], now).filter(left="")
        wanted.update(found.after(along, UUID(int=0)))
    if not wanted:
        return
    step = work.step(GONE_EVENT, work.request["reason"])
    gone = bulk_steps.delete(step, dict(sorted(wanted.items())), now)
    work.audit(step, [(row.id, row.scope, row.was, "deleted") for row in gone])


def _left(work: Work, principal: Principal, now: datetime) -> Left:
    """What was named or derived and is still there when all batches are through.  Each counts once, whatever it was
    derived from, and also when another worker had begun the step."""
    rows = _judged(work, principal, now)
    left = left_of(rows)
    if work.request["cascade"]:
        taken = found.taken_by(GONE_EVENT, work.job.created_at)
        ids = found.derived(taken, found.ids_of(rows))
        left.add(left_of(found.judged_derived(principal, ids, _asked(work)[1], now)))
    return left


def _undelete(work: Work) -> str:
    with tenant_context(work.tenant_id):
        step = Job.objects.get(id=parse_id("job", work.request["step"]))
        earlier = earlier_attempts(work)
    taken = Taking(show_id("job", step.id), GONE_EVENT, step.created_at)
    giving = Giving(
        BACK_EVENT, "the deletion was taken back", asker, withheld=found.withheld, earlier=earlier
    )
    take_back(work, taken, giving)
    if (work.job.result or {}).get("left_reasons"):
        with tenant_context(work.tenant_id):
            reopen_step(work)
    return work.end("memories.undeleted")


@denials_audited
def deletion_undo(principal: Principal, job_id: UUID) -> Job:
    """Take a deletion back as one: a job that gives each memory the status it had, unless it has changed since or
    something lives in its place.  An agent brings back only what it may write at the moment when the job runs.

    Raises `NotFound` (an agent takes back its own steps only), and `Conflict` while the step still runs, when it was
    taken back, or after the time in which a removal can be undone.
    """
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "take a deletion back")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        done = to_take_back(principal, job_id, DELETE, now)
        step = {"step": show_id("job", done.id)}
        job = asked_for(principal, UNDO, step, done.done, step, now)
        marked_undone(done, job)
        noted(principal, job, "memories.undelete_started", now, after={**step, "entries": done.done})
    return job

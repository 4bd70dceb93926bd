"""Quarantining a whole blast radius in one step, and taking that step back: jobs of a worker, batch by batch.

What was recorded after the person looked is not touched.  Every batch changes rows, index, revisions and the job's
progress in one statement and commits with its audit events; a worker that dies leaves whole batches behind, and the
next one goes on.  What was changed is found again by its revisions, which carry the job's instant.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain.blast import Seed, parse_seed
from memory.domain.ids import parse_id, show_id
from memory.domain.scopes import Verb
from memory.models import Job
from memory.selectors import blast
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.blast_reach import every_scope
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
from memory.services.errors import Conflict, Denied, Invalid
from memory.services.rights_now import asker
from memory.store import bulk_steps, jobs
from tenants.context import tenant_context
from tenants.principals import Principal

HOLD: Final = "blast.quarantine"
UNDO: Final = "blast.undo"
KINDS: Final = (HOLD, UNDO)
HELD_EVENT: Final = "memory.quarantined"
BACK_EVENT: Final = "memory.quarantine_undone"
_BATCH: Final = 1000


@denials_audited
def blast_quarantine(principal: Principal, seed: Seed, reason: str, *, seen: datetime) -> Job:
    """Quarantine what the seed wrote and all that was derived from it, as it was recorded up to `seen`.

    The job exists and is audited when this returns.  Raises `Invalid` for a seed without a condition or without a
    reason, `Conflict` when nothing is left to hold or the same step is under way.
    """
    if principal.kind == "agent":
        every_scope(principal, Verb.WRITE)
    else:
        require_role(principal, REVIEWERS, "quarantine what a source wrote")
    if not seed.given:
        raise Invalid("say where to begin: a memory, an agent, a key, a session, a tool, a source or a time",
                      code="seed_needed")  # fmt: skip
    if not reason.strip():
        raise Invalid("say why it is held: the next reviewer will ask", code="reason_needed", field="reason")
    now = clock.now()
    if seen > now:
        raise Invalid("the instant at which it was looked at lies in the future", field="seen")
    with tenant_context(principal.tenant_id):
        found = blast.counts(seed, seen)
        if not found.holdable:
            raise Conflict("there is nothing left to quarantine; nothing was changed", code="nothing_to_do")
        _not_twice(seed)
        request = {"seed": seed.as_text(), "seen": seen.isoformat(), "reason": reason.strip()[:500]}
        shown = {**request, "written": found.written, "derived": found.derived}
        job = asked_for(principal, HOLD, request, found.holdable, shown, now)
        about = {**seed.as_text(), "entries": found.holdable}
        noted(principal, job, "blast.quarantine_started", now, reason=reason.strip(), after=about)
    return job


def _not_twice(seed: Seed) -> None:
    """The same step is not queued twice, so that a form that was sent twice makes one."""
    under_way = Job.objects.filter(kind=HOLD, status__in=(jobs.QUEUED, jobs.RUNNING))
    if any((job.result or {}).get("seed") == seed.as_text() for job in under_way):
        raise Conflict("the same step is under way already; nothing was changed", code="under_way")


@denials_audited
def blast_undo(principal: Principal, job_id: UUID) -> Job:
    """Take a quarantine step back as one: a job that gives each memory the status it had, unless it has changed since.

    Raises `NotFound`, and `Conflict` while the step still runs, when it was taken back, or after the time in which a
    removal can be undone.
    """
    if principal.kind == "agent":
        every_scope(principal, Verb.WRITE)
    else:
        require_role(principal, REVIEWERS, "take a quarantine step back")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        done = to_take_back(principal, job_id, HOLD, now)
        request = {"step": show_id("job", done.id)}
        shown = {**request, "seed": (done.result or {}).get("seed", {})}
        job = asked_for(principal, UNDO, request, done.done, shown, now)
        marked_undone(done, job)
        noted(principal, job, "blast.undo_started", now, after={**request, "entries": done.done})
    return job


def blast_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on a step until it is done: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise."""
    work = taken_up(tenant_id, job_id, reopen_step)
    if isinstance(work, str):
        return work
    try:
        if work.job.kind == HOLD:
            hold(work)
            return work.end("blast.quarantined")
        _release(work)
    except Denied as denied:
        return stopped(work, denied, reopen_step)
    return work.end("blast.undone")


def _release(work: Work) -> None:
    with tenant_context(work.tenant_id):
        step = Job.objects.get(id=parse_id("job", work.request["step"]))
        earlier = earlier_attempts(work)
    taken = Taking(show_id("job", step.id), HELD_EVENT, step.created_at)
    take_back(work, taken, Giving(BACK_EVENT, "the quarantine step was taken back", _asker, earlier=earlier))


def _asker(work: Work) -> Principal:
    """Whoever asked, who may still write everywhere.  Raises `Denied`."""
    principal = asker(work)
    if principal.kind == "agent":
        every_scope(principal, Verb.WRITE)
    return principal


def hold(work: Work) -> None:
    """Batches of the set as it was seen; who holds a row is waited for.  Raises `Denied` as `_asker`."""
    seed, seen = parse_seed(work.request["seed"]), datetime.fromisoformat(work.request["seen"])
    step = work.step(HELD_EVENT, work.request["reason"])
    with tenant_context(work.tenant_id):
        ids = blast.holdable_ids(seed, seen)
    for start in range(0, len(ids), _BATCH):
        _asker(work)
        with tenant_context(work.tenant_id):
            held = bulk_steps.hold(step, ids[start : start + _BATCH], blast.HOLDABLE, clock.now())
            work.audit(step, [(row.id, row.scope, row.was, "quarantined") for row in held])

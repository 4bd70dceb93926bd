"""A preview as a background job: asked for by an admin, worked on with progress, kept as counts and ids."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, connections

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.models import Job, PolicyDraft
from memory.selectors.policies import active_policy
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.job_queue import dispatch
from memory.services.job_takes import give_up, taken, worn_out
from memory.services.policies import PolicyMoved
from memory.services.preview.report import MOST_READS, MOST_WRITES, READS, WRITES, preview_report
from memory.services.rights_now import lost, member_now
from memory.store import audit, jobs
from tenants.context import tenant_context
from tenants.principals import Principal, system

log = logging.getLogger(__name__)
PREVIEW: Final = "policy.preview"
_ONE_AT_A_TIME: Final = timedelta(minutes=10)
SIGN_SECONDS: Final = 10.0
"""Well within the lease of a job (`memory.store.jobs.LEASE`)."""


@denials_audited
def preview_start(
    actor: Principal, draft_id: UUID, *, version: int, writes: int = WRITES, reads: int = READS
) -> Job:
    """Ask for a preview of a draft; the job is there and audited when this returns.

    Raises `PolicyMoved` when the draft is not at `version` any more, `Conflict` while another preview is worked on.
    """
    require_role(actor, ADMINS, "preview a policy")
    if not (0 <= writes <= MOST_WRITES and 0 <= reads <= MOST_READS):
        raise Invalid(f"at most {MOST_WRITES} writes and {MOST_READS} reads can be repeated", field="writes")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        draft = PolicyDraft.objects.filter(id=draft_id).first()
        if draft is None:
            raise NotFound("there is no such draft; it may have been activated or discarded")
        if draft.version != version:
            raise PolicyMoved(
                f"the draft is at version {draft.version} by now, not {version}; nothing was begun",
                by=draft.updated_by,
                changes=(),
            )
        if Job.objects.filter(kind=PREVIEW, finished_at=None, touched_at__gt=now - _ONE_AT_A_TIME).exists():
            raise Conflict("another preview is being worked on; look at it first", code="busy")
        about = {
            "draft": show_id("pdr", draft.id), "name": draft.name, "version": version,
            "against": active_policy().number,
        }  # fmt: skip
        job = Job(
            id=new_id(now), kind=PREVIEW, actor_name=actor.name, created_at=now, touched_at=now, result=about
        )
        asked = {
            "document": draft.document, "writes": writes, "reads": reads, "at": now.isoformat(),
            "asker": {"kind": actor.kind, "id": actor.id, "name": actor.name, "role": actor.role},
        }  # fmt: skip
        jobs.insert(job, asked)
        event = audit.Event("policy.preview_started", "policy_draft", show_id("pdr", draft.id),
                            after={"job": show_id("job", job.id), "version": version})  # fmt: skip
        audit.append(actor, [event], now)
        dispatch(actor.tenant_id, job.id, PREVIEW)
    return job


def preview_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on a preview: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise.

    Whoever takes over from a worker that died begins again: a preview leaves nothing half done.
    """
    with tenant_context(tenant_id):
        job = taken(job_id)
        if isinstance(job, str):
            return job
        if worn_out(job):
            return give_up(job, system(tenant_id, "preview", show_id("job", job_id)))
        asked = jobs.request_of(job)
    try:
        with _signs_of_life(job):
            result = _result(tenant_id, job, asked)
    except (OperationalError, InterfaceError):
        raise  # the database went away: the task comes back
    except Denied as denied:
        with tenant_context(tenant_id):
            jobs.end(job, jobs.FAILED, clock.now(), denied.detail)
        return jobs.FAILED
    except Exception:
        log.exception("preview %s failed", job_id)
        with tenant_context(tenant_id):
            jobs.end(job, jobs.FAILED, clock.now(), "the preview failed; nothing was changed")
        return jobs.FAILED
    with tenant_context(tenant_id):
        jobs.conclude(job, result, clock.now())
    return jobs.DONE


def _result(tenant_id: UUID, job: Job, asked: Mapping[str, Any]) -> dict[str, Any]:
    began, asker = clock.now(), _asker(tenant_id, asked)
    _still_may(asker)
    report = preview_report(
        tenant_id, Policy.model_validate(asked["document"]), now=job.created_at, writes_most=asked["writes"],
        reads_most=asked["reads"], progress=_Told(job, asker),
    )  # fmt: skip
    _still_may(asker)  # what nobody asks for any more is not kept either
    took = (clock.now() - began).total_seconds()
    return {**(job.result or {}), **report.as_json(), "seconds": round(took, 3)}


def _asker(tenant_id: UUID, asked: Mapping[str, Any]) -> Principal:
    """Whoever asked for it."""
    return Principal(tenant_id, **asked["asker"]) if "asker" in asked else system(tenant_id, "preview")


@denials_audited
def _still_may(asker: Principal) -> None:
    """What is shown of a tenant's memories is for those who are admins by now.  Raises `Denied`."""
    if asker.kind == "member" and member_now(asker, ADMINS) is None:
        raise lost(
            asker, f"{asker.name}, who asked for it, is no owner or admin any more; it was not carried out"
        )


@contextmanager
def _signs_of_life(job: Job) -> Iterator[None]:
    """Say every few seconds that this worker is at it, also within a statement that takes longer than a lease.

    From a thread with a connection of its own: it ends with the process, and so does the lease.
    """
    over = Event()

    def beat() -> None:
        try:
            while not over.wait(SIGN_SECONDS):
                try:
                    with tenant_context(job.tenant_id):
                        jobs.touch(job.id, clock.now())
                except (OperationalError, InterfaceError):
                    connection.close()  # the work itself meets it as well, and says so
        finally:
            connections.close_all()

    thread = Thread(target=beat, name=f"alive {job.id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _Told:
    """Between the read-only transactions, at most once a second: asks for the asker's rights, and tells of progress."""

    def __init__(self, job: Job, asker: Principal) -> None:
        self._job, self._asker, self._last = job, asker, job.created_at

    def __call__(self, done: int, total: int) -> None:
        now = clock.now()
        if (now - self._last).total_seconds() < 1.0:
            return
        self._last = now
        _still_may(self._asker)
        with tenant_context(self._job.tenant_id):
            jobs.tell(self._job, done, total, now)

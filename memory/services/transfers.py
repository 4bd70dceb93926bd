"""Bringing a foreign store in and taking a tenant out, as jobs that an admin begins, follows and can stop.

An import is two jobs on one file: the first reads it and judges every row without storing any, the second does it. An
export is one, or only a trial of it. What is begun, done, stopped and downloaded is audited.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import parse_id, show_id
from memory.domain.scopes import parse_scope
from memory.models import Job
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.export_parquet import parquet_needed
from memory.services.job_queue import dispatch
from memory.services.transfer_files import KEPT, Incoming, path_of, remove
from memory.store import audit, jobs
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal

LOOK: Final = "import.preview"
IMPORT: Final = "import.run"
UNDO: Final = "import.undo"
TRIAL: Final = "export.trial"
EXPORT: Final = "export.run"
IMPORTS: Final = (LOOK, IMPORT, UNDO)
EXPORTS: Final = (TRIAL, EXPORT)
KINDS: Final = (*IMPORTS, *EXPORTS)
FORMS: Final = ("jsonl", "csv", "parquet")
ON_CONFLICT: Final = ("ask", "skip", "replace")
OF_A_DEMO: Final = 1024 * 1024
"""Bytes that a demo takes: it is anybody's."""
EXPORTS_KEPT: Final = 3
"""Files of exports on the disk; the oldest goes for a new one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a file is to be imported. Without a scope rows go to whom they name."""

    name: str
    scope: str = ""
    on_conflict: str = "ask"


def most_bytes(tenant_id: UUID) -> int:
    """How large a file may be that this tenant imports."""
    demo = Tenant.objects.filter(id=tenant_id, is_demo=True).exists()
    most: int = settings.MEMGOV_IMPORT_BYTES
    return min(most, OF_A_DEMO) if demo else most


@denials_audited
def import_look(principal: Principal, incoming: Incoming, wish: Wish) -> Job:
    """Begin to read an uploaded file: what it is and what would become of its rows. Nothing is stored.

    Raises `Invalid` for an empty file or a scope that is none, `Conflict` while another import is under way.
    """
    require_role(principal, ADMINS, "import a store")
    if not incoming.size:
        raise Invalid("choose a file that is not empty", field="file")
    request = {"scope": _scope(wish.scope), "on_conflict": wish.on_conflict}
    if wish.on_conflict not in ON_CONFLICT:
        raise Invalid("choose what happens to a row that says otherwise", field="on_conflict")
    shown = {**request, "name": wish.name, "bytes": incoming.size, "sha256": incoming.sha256}
    with tenant_context(principal.tenant_id):
        _one_at_a_time(principal, IMPORTS)
        _make_room(principal, [one for one in _done(LOOK) if not (one.result or {}).get("run")])
        job = _queued(principal, LOOK, request, shown)
        incoming.keep(principal.tenant_id, job.id)
    return job


def _scope(text: str) -> str:
    try:
        return str(parse_scope(text.strip())) if text.strip() else ""
    except ValueError as error:
        raise Invalid(str(error), field="scope") from None


@denials_audited
def import_begin(principal: Principal, look_id: UUID) -> Job:
    """Import the file that was looked at. Raises `Conflict` where it was imported, is gone, or is not read yet."""
    require_role(principal, ADMINS, "import a store")
    with tenant_context(principal.tenant_id):
        _lock(principal)
        looked = jobs.lock(look_id)
        if looked is None or looked.kind != LOOK:
            raise NotFound("there is no such import")
        shown = looked.result or {}
        if looked.status != jobs.DONE:
            raise Conflict("the file has not been looked at to its end; nothing was begun", code="not_ready")
        if shown.get("run"):
            raise Conflict("the file was imported already; nothing was begun", code="already_decided")
        if not path_of(principal.tenant_id, look_id).exists():
            raise Conflict("the file is no longer kept; upload it again", code="file_gone")
        _one_at_a_time(principal, IMPORTS)
        request = {name: shown[name] for name in ("scope", "on_conflict")}
        about = {name: shown[name] for name in ("name", "bytes", "sha256", "scope", "on_conflict")}
        job = _queued(
            principal, IMPORT, {**request, "file": str(look_id)}, {**about, "of": show_id("job", look_id)}
        )
        jobs.keep_result(looked, {**shown, "run": show_id("job", job.id)})
    return job


@denials_audited
def import_undo(principal: Principal, run_id: UUID) -> Job:
    """Begin to take an import back that has ended, also one that was stopped or failed.

    Raises `Conflict` where it is under way, or is taken back already.
    """
    require_role(principal, ADMINS, "take an import back")
    with tenant_context(principal.tenant_id):
        _lock(principal)
        run = jobs.lock(run_id)
        if run is None or run.kind != IMPORT:
            raise NotFound("there is no such import")
        shown = run.result or {}
        if run.status not in jobs.ENDED:
            raise Conflict("the import is under way; wait for it or stop it first", code="under_way")
        if shown.get("undo"):
            raise Conflict("the import was taken back already; nothing was begun", code="already_decided")
        _one_at_a_time(principal, IMPORTS)
        about = {name: shown[name] for name in ("name", "scope") if name in shown}
        job = _queued(principal, UNDO, {"run": str(run_id)}, {**about, "of": show_id("job", run_id)})
        jobs.keep_result(run, {**shown, "undo": show_id("job", job.id)})
    return job


def undo_stopped(job: Job) -> None:
    """Let an import be taken back again, after this job, if it was to, came to no end."""
    if job.kind != UNDO:
        return
    run = jobs.lock(parse_id("job", (job.result or {})["of"]))
    if run is not None:
        jobs.keep_result(run, {name: value for name, value in (run.result or {}).items() if name != "undo"})


@denials_audited
def export_begin(principal: Principal, form: str, *, trial: bool = False) -> Job:
    """Begin an export, or with `trial` only count what would go out and which secrets would be blanked out."""
    require_role(principal, ADMINS, "export the tenant")
    if form not in FORMS:
        raise Invalid("choose one of the formats", field="form")
    if form == "parquet":
        parquet_needed()
    with tenant_context(principal.tenant_id):
        _one_at_a_time(principal, EXPORTS)
        if not trial:
            _make_room(principal, _done(EXPORT)[EXPORTS_KEPT - 1 :])
        return _queued(principal, TRIAL if trial else EXPORT, {"form": form}, {"form": form})


@denials_audited
def transfer_cancel(principal: Principal, job_id: UUID) -> Job:
    """Stop an import or export. Rows that came in before stay and are counted. Raises `Conflict` when it has ended."""
    require_role(principal, ADMINS, "stop an import or export")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        job = _found(job_id)
        if job.status in jobs.ENDED:
            raise Conflict("it has ended already; nothing was changed", code="already_decided")
        jobs.cancel(job, now)
        _note(principal, job, "cancel_asked", now)
        if job.status == jobs.CANCELLED:
            remove(principal.tenant_id, job.id)
            undo_stopped(job)
    return job


@denials_audited
def export_file(principal: Principal, job_id: UUID) -> tuple[Path, Job]:
    """The file of an export, for an admin of its tenant, while it is kept. Every download is audited."""
    require_role(principal, ADMINS, "download an export")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        job = _found(job_id)
        path = path_of(principal.tenant_id, job_id)
        if job.kind != EXPORT or not is_kept(job, now) or not path.exists():
            raise NotFound("the file is no longer kept; export again")
        _note(principal, job, "downloaded", now)
    return path, job


def is_kept(job: Job, now: datetime) -> bool:
    """Whether a finished job's file can still be there."""
    return job.status == jobs.DONE and job.finished_at is not None and now - job.finished_at < KEPT


def _found(job_id: UUID) -> Job:
    job = jobs.lock(job_id)
    if job is None or job.kind not in KINDS:
        raise NotFound("there is no such import or export")
    return job


def _one_at_a_time(principal: Principal, kinds: tuple[str, ...]) -> None:
    """Until the end of the transaction no other one begins. Raises `Conflict` while one is under way."""
    _lock(principal)
    if Job.objects.filter(kind__in=kinds, status__in=(jobs.QUEUED, jobs.RUNNING)).exists():
        raise Conflict("another one is under way; wait for it or stop it first", code="under_way")


def _lock(principal: Principal) -> None:
    # No lock of the key: what others write of the tenant meanwhile does not wait.
    Tenant.objects.select_for_update(no_key=True).get(id=principal.tenant_id)


def _done(kind: str) -> list[Job]:
    """Those whose file may still be there, the newest first."""
    rows = Job.objects.filter(kind=kind, status=jobs.DONE, finished_at__gt=clock.now() - 2 * KEPT)
    return list(rows.only("id", "result").order_by("-created_at", "-id"))


def _make_room(principal: Principal, old: list[Job]) -> None:
    """Take the files of these away once the new one has begun: a tenant must not fill the disk within a day."""
    for job_id in [job.id for job in old]:
        transaction.on_commit(partial(remove, principal.tenant_id, job_id))


def _queued(principal: Principal, kind: str, request: dict[str, Any], shown: dict[str, Any]) -> Job:
    now = clock.now()
    job = Job(
        id=new_id(now),
        kind=kind,
        actor_name=principal.name,
        total=1000,
        result=shown,
        created_at=now,
        touched_at=now,
    )
    actor = {"kind": principal.kind, "id": principal.id, "name": principal.name, "role": principal.role}
    jobs.insert(job, {**request, "actor": actor})
    _note(principal, job, "begun", now, after=shown)
    dispatch(principal.tenant_id, job.id, kind)
    return job


def _note(principal: Principal, job: Job, what: str, now: datetime, **more: Any) -> None:
    audit.append(principal, [event_of(job, what, **more)], now)


def event_of(job: Job, what: str, **more: Any) -> audit.Event:
    """What happened to an import or export."""
    action = f"{job.kind.replace('.', '_')}.{what}"
    return audit.Event(action, "job", show_id("job", job.id), **more)

"""A worker's part of imports and exports: it reads or writes the file, says how far it is, and stops when asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection

from memgov import clock
from memory.audit.analysis import audit_store
from memory.audit.model import Report
from memory.audit.visible import masked
from memory.domain.ids import show_id
from memory.importers import Part, Reading, Unusable, open_store, weight
from memory.models import Job
from memory.services.access import ADMINS, denials_audited
from memory.services.errors import ServiceError
from memory.services.foreign_import import Imported, foreign_import
from memory.services.foreign_import_undo import import_run_undo
from memory.services.job_takes import taken, worn_out
from memory.services.rights_now import lost, member_now
from memory.services.tenant_export import Exported, tenant_export
from memory.services.transfer_files import path_of, remove
from memory.services.transfers import EXPORT, IMPORT, LOOK, TRIAL, UNDO, event_of, most_bytes, undo_stopped
from memory.store import audit, jobs
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal

log = logging.getLogger(__name__)

_EVERY: Final = 1.0
_SAMPLES: Final = 25
_TOLD: Final = 1000
_LOOKED: Final = 300
"""Of a thousand parts of an import's first job: the reading; the rest is judging row by row."""
_MOST_PACKED: Final = 20
"""How many times its own size an archive may unpack to; text packs to a tenth."""
_FREELY_UNPACKED: Final = 16 * 1024**2
_MOST_UNPACKED: Final = 5
"""How many times the size of the largest upload."""


class Stopped(Exception):
    """Somebody asked for it to stop."""


@dataclass(slots=True)
class Follow:
    """Says once a second how many of a thousand parts are done, and hears whether to stop."""

    tenant_id: UUID
    job: Job
    asked: Principal
    _last: float = field(default=-_EVERY)

    def tell(self, done: int, *, at_once: bool = False) -> None:
        """Raises `Stopped`, and `Denied` when whoever asked may not have it done any more."""
        if not at_once and monotonic() - self._last < _EVERY:
            return
        self._last = monotonic()
        with tenant_context(self.tenant_id):
            jobs.tell(self.job, min(done, 1000), 1000, clock.now())
            stop = jobs.is_cancelled(self.job.id)
        if stop:
            raise Stopped
        if not at_once:
            _still_may(self.asked)

    def got_further(self) -> None:
        """Rows were stored or went for good: the workers that were lost before count no longer."""
        if self.job.takes:
            with tenant_context(self.tenant_id):
                jobs.got_further(self.job)


def transfer_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on an import or export: `done`, `failed`, `cancelled`, `busy` when another worker is at it, else `gone`."""
    with tenant_context(tenant_id):
        job = taken(job_id)
        if isinstance(job, str):
            return job
        request = jobs.request_of(job)
    actor = Principal(tenant_id, **request.pop("actor"), request_id=show_id("job", job_id))
    work = _Work(tenant_id, job, request, actor, Follow(tenant_id, job, actor))
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        LOOK: work.look, IMPORT: work.bring_in, UNDO: work.take_back, TRIAL: work.take_out, EXPORT: work.take_out,
    }  # fmt: skip
    try:
        if worn_out(job):
            raise Unusable("it was begun three times and its worker was lost each time: it may be too large")
        work.actor = _as_of_now(actor)
        work.follow.tell(0, at_once=True)
        result = steps[job.kind]()
    except Stopped:
        return work.end(jobs.CANCELLED)
    except (ServiceError, Unusable) as error:
        return work.end(jobs.FAILED, work.named(str(error)))
    except (OperationalError, InterfaceError):
        raise  # the database is away: the message comes back, and the work with it
    except Exception:
        log.exception("job %s failed", job.id)
        return work.end(jobs.FAILED, "it broke on our side; the error was recorded")
    return work.done(result)


@denials_audited
def _as_of_now(asked: Principal) -> Principal:
    """Whoever asked for the job, with the role that they have by now.

    Raises `Denied` for a member who left or was given a lesser role since: what they may do is what they may do now.
    """
    if asked.kind != "member":
        return asked
    admin = member_now(asked, ADMINS)
    if admin is None:
        raise lost(
            asked, f"{asked.name}, who asked for it, is no owner or admin any more; it was not carried out"
        )
    return admin


@denials_audited
def _still_may(asked: Principal) -> None:
    """The same while it runs: what came in until then stays."""
    if asked.kind == "member" and member_now(asked, ADMINS) is None:
        raise lost(
            asked,
            f"{asked.name}, who asked for it, is no owner or admin any more; what was done until then stays",
        )


@dataclass(slots=True)
class _Work:
    """One job under way."""

    tenant_id: UUID
    job: Job
    request: dict[str, Any]
    actor: Principal
    follow: Follow
    _read: int = 0

    def look(self) -> dict[str, Any]:
        """What the file is, what an audit of it finds, and what would become of its rows."""
        path = path_of(self.tenant_id, self.job.id)
        whole = max(weight(path), 1)
        report = audit_store(self._opened(path, lambda: _LOOKED * self._read // whole), clock.now())
        self._read = 0
        judged = self._imported(path, lambda: _LOOKED + (1000 - _LOOKED) * self._read // whole, dry_run=True)
        found = _found(report)
        for source in found["sources"]:
            source["name"] = self.named(source["name"])
        return {**found, **_became(judged)}

    def bring_in(self) -> dict[str, Any]:
        """The rows, offered as candidates; a repetition finds those that came in before."""
        path = path_of(self.tenant_id, UUID(self.request["file"]))
        whole = max(weight(path), 1)
        result = _became(self._imported(path, lambda: 1000 * self._read // whole, dry_run=False))
        remove(self.tenant_id, UUID(self.request["file"]))
        return result

    def take_back(self) -> dict[str, Any]:
        """What an import brought in and nobody decided on; a repetition goes on."""
        with tenant_context(self.tenant_id):
            run = Job.objects.get(id=self.request["run"])
        back = import_run_undo(
            self.actor,
            run,
            lambda seen, total: self.follow.tell(1000 * seen // max(total, 1)),
            self.follow.got_further,
        )
        return {"counts": {"removed": back.removed, "restored": back.restored, "stayed": back.stayed}}

    def _imported(self, path: Path, done: Callable[[], int], *, dry_run: bool) -> Imported:
        parts = self._ticking(self._opened(path, done).parts(), done)
        return foreign_import(
            self.actor, parts, scope=self.request["scope"] or None, dry_run=dry_run,
            on_conflict=self.request["on_conflict"], most_told=_TOLD,
            kept=self.follow.got_further,
        )  # fmt: skip

    def _opened(self, path: Path, done: Callable[[], int]) -> Reading:
        def watch(size: int) -> None:
            self._read += size
            self.follow.tell(done())

        return open_store(path, watch=watch, most=_most_unpacked(self.tenant_id, path))

    def named(self, text: str) -> str:
        """The text with the name that the file came with; on our disk it is called after its job."""
        own = path_of(self.tenant_id, UUID(self.request.get("file", str(self.job.id))))
        shown = str((self.job.result or {}).get("name", ""))
        return text.replace(str(own), shown).replace(own.name, shown)

    def _ticking(self, parts: Iterable[Part], done: Callable[[], int]) -> Iterator[Part]:
        for part in parts:
            yield replace(part, name=self.named(part.name), items=self._each(part, done))

    def _each(self, part: Part, done: Callable[[], int]) -> Iterator[Any]:
        for item in part.items:
            self.follow.tell(done())
            yield item

    def take_out(self) -> dict[str, Any]:
        """The tenant as a file, or only what would be in it."""
        path = path_of(self.tenant_id, self.job.id)
        remove(self.tenant_id, self.job.id)  # what a lost worker left: as the lease is ours, nobody is at it
        tenant = Tenant.objects.get(id=self.tenant_id)
        with _apart() as apart:
            done = tenant_export(
                self.actor, tenant, path, form=self.request["form"], dry_run=self.job.kind == TRIAL,
                progress=lambda seen, total: apart(lambda: self.follow.tell(1000 * seen // max(total, 1))),
            )  # fmt: skip
        return _went(done, path if self.job.kind == EXPORT else None)

    def done(self, result: dict[str, Any]) -> str:
        now, counted = (
            clock.now(),
            {name: result[name] for name in ("counts", "secrets", "sha256") if name in result},
        )
        with tenant_context(self.tenant_id):
            kept = Job.objects.values_list("result", flat=True).get(id=self.job.id) or {}
            jobs.conclude(self.job, {**kept, **result}, now)
            audit.append(self.actor, [event_of(self.job, "done", after=counted)], now)
        return jobs.DONE

    def end(self, status: str, error: str = "") -> str:
        now = clock.now()
        with tenant_context(self.tenant_id):
            jobs.end(self.job, status, now, error)
            undo_stopped(self.job)
            audit.append(self.actor, [event_of(self.job, status, reason=error)], now)
        for file in (self.job.id, *([UUID(self.request["file"])] if "file" in self.request else [])):
            remove(self.tenant_id, file)
        return status


def _most_unpacked(tenant_id: UUID, path: Path) -> int:
    """Bytes: a small file must not cost a worker an hour."""
    by_size = max(_MOST_PACKED * path.stat().st_size, _FREELY_UNPACKED)
    return min(by_size, _MOST_UNPACKED * most_bytes(tenant_id))


def _found(report: Report) -> dict[str, Any]:
    return {
        "sources": [
            {"name": one.name, "title": one.title, "records": one.records} for one in report.sources[:50]
        ],
        "records": report.records,
        "unreadable": report.unreadable,
        "findings": {str(name): tally.count for name, tally in report.tallies.items() if tally.count},
        "samples": [
            {
                "pointer": item.pointer[:200],
                "text": item.text[:400],
                "what": [str(one.category) for one in item.findings][:4],
            }
            for item in report.items[:_SAMPLES]
        ],
    }


def _became(result: Imported) -> dict[str, Any]:
    return {
        "counts": dict(result.counts),
        "reasons": dict(result.reasons),
        "added": result.added,
        "cleared": result.cleared,
        "told": [[masked(pointer)[:200], what, masked(why)[:300]] for pointer, what, why in result.told],
    }


def _went(done: Exported, path: Path | None) -> dict[str, Any]:
    sizes = {"bytes": path.stat().st_size} if path else {}
    return {"counts": dict(done.counts), "secrets": done.secrets, "sha256": done.sha256, **sizes}


@contextmanager
def _apart() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Runs on a connection of its own: an export reads in one transaction, in which nobody would see a progress."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            yield lambda act: thread.submit(act).result()
        finally:
            thread.submit(_close_own).result()


def _close_own() -> None:
    """The connection of the thread that calls this."""
    connection.close()

"""A worker's part of an erasure, until nothing of the subject is left.

First what quotes the subject without being tied to it, because the texts that are looked for there are still known;
then the memories in batches, each with everything that is tied to it, its count and its audit event in one transaction;
then once more what came in meanwhile.  A worker that dies leaves whole batches behind, and the next one goes on: what
was erased is found by its revisions, and its shells still lead to what was derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.needles import Needles
from memory.models import Job, Memory, Revision
from memory.selectors import erasure as found
from memory.selectors.policies import active_policy
from memory.services.access import ADMINS, denials_audited
from memory.services.bulk_jobs import stopped, taken_up
from memory.services.bulk_work import Work
from memory.services.contradictions_moot import contradictions_moot
from memory.services.deadlocks import unless_deadlocked
from memory.services.erasure_jobs import files_removed, transfers_stopped, waited_for, waiting_cleaned
from memory.services.errors import Denied
from memory.services.rights_now import lost, member_now
from memory.store import audit, erasure, erasure_texts, jobs
from tenants.context import tenant_context
from tenants.principals import Principal

RECEIPT: Final = "subject.erased"
BATCH: Final = 500
_MOST_PASSES: Final = 50
Progress = Callable[[int, int], None]


def _untold(_done: int, _total: int) -> None: ...


@dataclass(slots=True)
class _Erasing:
    """One erasure under way; `texts` is what the memories said, for as long as this worker lives."""

    work: Work
    tell: Progress
    texts: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        return list(self.work.request["names"])

    @property
    def needles(self) -> Needles:
        return Needles([*self.names, *self.work.request["words"]], self.texts)

    def plan(self) -> list[UUID]:
        """What is left to do.  Inside the tenant's context."""
        picked = [UUID(hex=one) for one in self.work.request["picked"]]
        begun = found.begun_for((self.work.job.result or {})["subject_hash"])
        return [one.id for one in found.plan(self.names, picked, begun)]

    def count(self, counts: Mapping[str, int]) -> None:
        """Add rows by table to what the job tells, in the present transaction."""
        told = dict(self.work.job.result or {})
        tables = dict(told.get("tables", {}))
        for table, rows in counts.items():
            tables[table] = tables.get(table, 0) + rows
        jobs.keep_result(self.work.job, {**told, "tables": tables})


def erasure_run(tenant_id: UUID, job_id: UUID, *, tell: Progress = _untold) -> str:
    """Work on an erasure until it is done: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise."""
    work = taken_up(tenant_id, job_id, lambda _work: None)
    if isinstance(work, str):
        return work
    return _run(work, tell)


def erasure_run_here(job: Job, tell: Progress = _untold) -> str:
    """The same of a job that was begun with `here`; when this process dies, a worker goes on."""
    with tenant_context(job.tenant_id):
        work = Work(job.tenant_id, job, jobs.request_of(job), active_policy().number)
    return _run(work, tell)


def _run(work: Work, tell: Progress) -> str:
    one = _Erasing(work, tell)
    try:
        _erase_all(one)
    except Denied as denied:
        return stopped(work, denied, lambda _work: None)
    return _ended(one)


@denials_audited
def _asker(asked: Principal) -> Principal:
    """Whoever asked, with the role of this moment.  Raises `Denied` when that is no longer enough."""
    if asked.kind != "member":
        return asked
    admin = member_now(asked, ADMINS)
    if admin is None:
        raise lost(
            asked,
            f"{asked.name}, who asked for it, is no owner or admin any more; what was done until then stays",
        )
    return admin


def _erase_all(one: _Erasing) -> None:
    """Everything, and again until a look finds nothing more: what is written meanwhile goes too."""
    tenant_id = one.work.tenant_id
    with tenant_context(tenant_id):
        ids = one.plan()
        _know_texts(one, ids)
    stopped_jobs = transfers_stopped(_asker(one.work.actor))
    with tenant_context(tenant_id):
        items, under_way = waiting_cleaned(one.names, one.needles)
        one.count({"memory_job": items, "transfers": stopped_jobs})
    _erase_texts(one)
    for _ in range(_MOST_PASSES):
        _erase_memories(one, ids)
        waited_for(tenant_id, under_way)
        under_way = {}
        with tenant_context(tenant_id):
            ids = one.plan()
            _know_texts(one, ids)
        if not ids:
            break
    _afterwards(one)


def _know_texts(one: _Erasing, ids: list[UUID]) -> None:
    """Keep in mind what these memories say and said."""
    for at in range(0, len(ids), 2000):
        part = ids[at : at + 2000]
        for content, value in Memory.objects.filter(id__in=part).values_list("content", "value"):
            one.texts |= {content, value if " " in value else ""}
        said = Revision.objects.filter(memory_id__in=part).values_list("state__content", flat=True)
        one.texts |= {text for text in said if isinstance(text, str)}


def _erase_texts(one: _Erasing) -> None:
    needles = one.needles
    for loose in erasure_texts.LOOSE:
        place: UUID | None = UUID(int=0)
        while place is not None:
            with tenant_context(one.work.tenant_id):
                place, rows = erasure_texts.erase_batch(loose, needles, place)
                if rows:
                    one.count({loose.model._meta.db_table: rows})
                jobs.touch(one.work.job.id, clock.now())


def _erase_memories(one: _Erasing, ids: list[UUID]) -> None:
    work = one.work
    for at in range(0, len(ids), BATCH):
        _asker(work.actor)
        part = ids[at : at + BATCH]
        unless_deadlocked(partial(_batch, one, part))
        one.tell(min(at + BATCH, len(ids)), len(ids))
        with tenant_context(work.tenant_id):
            active = active_policy()
        contradictions_moot(work.tenant_id, work.actor, active, clock.now(), of=part)


def _batch(one: _Erasing, ids: list[UUID]) -> None:
    work, now = one.work, clock.now()
    kept = work.job.result
    try:
        with tenant_context(work.tenant_id):
            counts = erasure.erase(
                work.job.id, ids, work.job.created_at, now, event=found.ERASED_EVENT, actor=work.actor.name
            )
            one.count(counts)
            event = audit.Event(
                found.ERASED_EVENT, "job", show_id("job", work.job.id), after={"entries": counts["memory_memory"]},
                policy_version=work.policy_version,
            )  # fmt: skip
            audit.append(work.actor, [event], now)
    except BaseException:
        work.job.result = kept
        raise


def _afterwards(one: _Erasing) -> None:
    """What is tied to all of them, and what quoted them while they went."""
    work = one.work
    with tenant_context(work.tenant_id):
        gone = _taken(work)
        one.count(erasure_texts.forget_undos(frozenset(map(str, gone)), one.needles))
        erasure.forget_reads(gone)
    _erase_texts(one)
    with tenant_context(work.tenant_id):
        aliases = erasure.forget_aliases(one.names)
        one.count({"memory_subjectalias": aliases, "files": files_removed(work.tenant_id)})


def _taken(work: Work) -> list[UUID]:
    rows = Revision.objects.filter(event=found.ERASED_EVENT, at=work.job.created_at)
    return list(rows.values_list("memory_id", flat=True))


def _ended(one: _Erasing) -> str:
    """Close the job; its receipt is an audit event without a name and without a text."""
    work, now = one.work, clock.now()
    with tenant_context(work.tenant_id):
        told = work.job.result or {}
        tables = {table: rows for table, rows in sorted(told.get("tables", {}).items()) if rows}
        after = {
            "job": show_id("job", work.job.id), "asked_at": work.job.created_at.isoformat(),
            "entries": jobs.progress(work.job.id), "why": told.get("why", {}), "tables": tables,
            "stays": {"memory_auditevent": found.in_audit(one.names, one.needles)},
        }  # fmt: skip
        event = audit.Event(
            RECEIPT, "subject", told["subject_hash"], reason=told.get("reason", ""), after=after,
            policy_version=work.policy_version,
        )  # fmt: skip
        jobs.end(work.job, jobs.DONE, now)
        audit.append(work.actor, [event], now)
    return jobs.DONE

"""A step of many memories under way in a worker: its batches, each with its audit events, and how a step or a whole
run of a sweep is taken back.

What came to be since is never overwritten: a memory that has changed, or whose place something else has taken, is left
as it is and named in the job's result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Job
from memory.services.embedding import vectors_of
from memory.services.errors import Denied
from memory.services.merging import unmerge
from memory.store import audit, bulk_steps, jobs, memories
from memory.store.bulk_steps import BulkStep, Taken
from tenants.context import tenant_context
from tenants.principals import Principal

BACK_BATCH: Final = 500
_EMBEDDED: Final = 200
_NAMED: Final = 100
_TRIES: Final = 5


@dataclass(slots=True)
class Work:
    """A job under way, and what it was asked to do."""

    tenant_id: UUID
    job: Job
    request: dict[str, Any]
    policy_version: int

    @property
    def actor(self) -> Principal:
        """Who asked, with the job as the request that its events belong to."""
        asked = self.request["actor"]
        return Principal(self.tenant_id, asked["kind"], asked["id"], asked["name"],
                         request_id=show_id("job", self.job.id))  # fmt: skip

    def step(self, event: str, reason: str) -> BulkStep:
        """What the rows of this job are told of it."""
        return BulkStep(self.job.id, event, self.actor.name, reason, self.job.created_at)

    def audit(self, step: BulkStep, rows: Sequence[tuple[UUID, str, str, str]]) -> None:
        """Events of the rows (id, scope, status before, status after), in the transaction that changed them."""
        events = [
            audit.Event(
                step.event, "memory", show_id("mem", memory_id), scope=scope, reason=step.reason,
                before={"status": was}, after={"status": now}, policy_version=self.policy_version,
            )
            for memory_id, scope, was, now in rows
        ]  # fmt: skip
        audit.append(self.actor, events, self.job.created_at)

    def end(self, action: str, reason: str = "", **more: Any) -> str:
        """Close the job with the count of its rows, in the audit too."""
        now = clock.now()
        with tenant_context(self.tenant_id):
            done = jobs.progress(self.job.id)
            jobs.end(self.job, jobs.DONE, now)
            after = {"entries": done, "left": (self.job.result or {}).get("left", 0), **more}
            event = audit.Event(action, "job", show_id("job", self.job.id), reason=reason, after=after,
                                policy_version=self.policy_version)  # fmt: skip
            audit.append(self.actor, [event], now)
        return jobs.DONE


@dataclass(frozen=True, slots=True)
class Taking:
    """What took the memories away: the id that its events carry, their name, and its instant."""

    request: str
    event: str
    at: datetime


def _nothing(_asker: Principal, _ids: Sequence[UUID]) -> Mapping[UUID, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Giving:
    """How they come back.  `asker`: whoever asked, with the rights of the moment, asked before each batch; raises
    `Denied`.  `unend`: an end that has passed is taken off, or the next sweep takes them again.  `withheld`: which of
    them whoever asked has no right to bring back, and why.  `earlier`: the instants of jobs that began to take the same
    step back."""

    event: str
    reason: str
    asker: Callable[[Work], Principal]
    unend: bool = False
    withheld: Callable[[Principal, Sequence[UUID]], Mapping[UUID, str]] = _nothing
    earlier: Sequence[datetime] = ()


def take_back(work: Work, taking: Taking, giving: Giving) -> None:
    """Give back batch by batch, name what is left, and have all that came back found by its meaning again.

    Raises `Denied` when whoever asked may not any more; what is back by then stays.
    """
    try:
        _give_back(work, taking, giving)
    except Denied:
        _give_vectors(work, giving)
        raise
    _give_vectors(work, giving)


def _give_back(work: Work, taking: Taking, giving: Giving) -> None:
    place, left = UUID(int=0), 0
    named: list[str] = []
    reasons: Counter[str] = Counter()
    while found := _taken(work, taking, place):
        place = found[-1].place
        asker = giving.asker(work)
        with tenant_context(work.tenant_id):
            withheld = giving.withheld(asker, [one.row.id for one in found if one.untouched])
        free = [one for one in found if one.untouched and one.row.id not in withheld]
        back = _returned(work, free, giving)
        missed = [one for one in found if one.row.id not in back]
        there = _came_back(work, missed, giving)
        missed = [one for one in missed if one.row.id not in there]
        left += len(missed)
        reasons.update(withheld[one.row.id] for one in missed if one.row.id in withheld)
        named += [show_id("mem", one.row.id) for one in missed[: _NAMED - len(named)]]
    told = {"left": left, "left_named": named} | ({"left_reasons": dict(reasons)} if reasons else {})
    with tenant_context(work.tenant_id):
        jobs.keep_result(work.job, {**(work.job.result or {}), **told})


def _taken(work: Work, taking: Taking, after: UUID) -> list[Taken]:
    with tenant_context(work.tenant_id):
        return bulk_steps.taken_by(taking.request, taking.event, taking.at, after, BACK_BATCH)


def _came_back(work: Work, missed: Sequence[Taken], giving: Giving) -> set[UUID]:
    """Which of them are back already: brought by a worker that died, or by an earlier job for the same step."""
    if not missed:
        return set()
    instants = [work.job.created_at, *giving.earlier]
    with tenant_context(work.tenant_id):
        return bulk_steps.brought_back([one.row.id for one in missed], giving.event, instants)


def _returned(work: Work, found: Sequence[Taken], giving: Giving) -> set[UUID]:
    """Bring one batch back; a lost race is looked at again."""
    rows, step = [one.row for one in found], work.step(giving.event, giving.reason)
    was = {row.id: row.back for row in rows}
    merged = {one.row.id: one.merged_into for one in found if one.merged_into is not None}
    for last in range(_TRIES, 0, -1):
        try:
            with tenant_context(work.tenant_id):
                if merged:  # what had taken them in is written as well: all in the order of their ids
                    memories.lock({*was, *merged.values()})
                back = bulk_steps.bring_back(step, rows, clock.now(), unend=giving.unend)
                unmerge({row.id: merged[row.id] for row in back if row.id in merged})
                work.audit(step, [(row.id, row.scope, row.was, was[row.id]) for row in back])
            return {row.id for row in back}
        except IntegrityError:
            if last == 1:
                raise
    return set()


def _give_vectors(work: Work, giving: Giving) -> None:
    """Embedded outside the transactions."""
    place, mine = UUID(int=0), Taking(show_id("job", work.job.id), giving.event, work.job.created_at)
    while True:
        with tenant_context(work.tenant_id):
            found = bulk_steps.taken_by(mine.request, mine.event, mine.at, place, _EMBEDDED)
            bare = bulk_steps.without_vector([one.row.id for one in found])
        rows = [one.row for one in found if one.row.id in bare]
        vectors = zip(rows, vectors_of([row.content for row in rows]), strict=True)
        with tenant_context(work.tenant_id):
            bulk_steps.give_vectors({row.id: vector for row, vector in vectors if vector is not None})
            jobs.touch(work.job.id, clock.now())
        if len(found) < _EMBEDDED:
            return
        place = found[-1].place

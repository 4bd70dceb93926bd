"""What every sweep shares: the run with its record, and the loop of batches, each audited as it is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.models import SweepRun
from memory.store import audit, bulk
from tenants.context import tenant_context
from tenants.principals import Principal, system

Progress = Callable[[int, int | None], None]
"""Called with what is done so far and, where it is known, how much there is."""

DONE, STOPPED, FAILED = "done", "stopped", "failed"


class Run:
    """One run for one tenant.  `now` is the instant that the rules are applied for."""

    def __init__(
        self, tenant_id: UUID, name: str, *, dry_run: bool, progress: Progress | None, now: datetime
    ) -> None:
        self.tenant_id, self.now, self.dry_run = tenant_id, now, dry_run
        self.record = bulk.RunRecord(new_id(now), name, now, perf_counter(), dry_run)
        self.actor: Principal = system(tenant_id, f"sweep.{name}", f"run_{self.record.id.hex}")
        self.status = DONE
        self._progress = progress

    def tell(self, total: int | None = None) -> None:
        """Report progress to whoever watches."""
        if self._progress:
            self._progress(self.record.changed, total)

    def finish(self) -> None:
        """Write the record's end.  Inside the tenant's context."""
        bulk.record_run(self.record, self.status)

    def result(self) -> SweepRun:
        """The run as a row: what was recorded."""
        record = self.record
        return SweepRun(
            tenant_id=self.tenant_id, id=record.id, name=record.name, status=self.status, dry_run=record.dry_run,
            started_at=record.started_at, finished_at=record.reached(),
            scanned=record.changed if record.scanned is None else record.scanned, changed=record.changed,
            skipped=record.skipped, policy_version=record.policy_version or 0, note=record.note[:500],
            details=record.details,
        )  # fmt: skip


@contextmanager
def running(
    tenant_id: UUID, name: str, *, dry_run: bool, progress: Progress | None, now: datetime | None
) -> Iterator[Run]:
    """A run; one that fails is recorded as failed, with what it had done until then."""
    run = Run(tenant_id, name, dry_run=dry_run, progress=progress, now=now or clock.now())
    try:
        yield run
    except Exception as error:
        run.status, run.record.note = FAILED, f"{type(error).__name__}: {error}"
        with tenant_context(tenant_id):
            run.finish()
        raise


@dataclass(frozen=True, slots=True)
class Step:
    """What a sweep does to the rows of a pick.  `status` None: their score becomes their confidence."""

    pick: str
    parameters: Mapping[str, Any]
    action: str
    reason: str
    status: str | None


def batch(
    run: Run,
    step: Step,
    *,
    after: UUID = bulk.START,
    limit: int = bulk.BATCH,
    final: str = "",
    last: bool = False,
) -> list[UUID]:
    """One batch with its audit events, in the transaction that the caller holds; the changed rows' ids.

    `last`: nothing follows in that transaction, so that the events go with the statement that changes the rows.
    """
    change = bulk.BulkChange(
        step.pick,
        {**step.parameters, "after": after},
        step.status,
        step.action,
        run.actor.name,
        step.reason,
        run.now,
    )
    if last and step.status is not None:
        return bulk.apply_audited(change, run.actor, run.record, limit=limit, final=final)
    rows = bulk.apply(change, run.record, limit=limit, final=final)
    audit.append(run.actor, [_event(run, step, row) for row in rows], run.now)
    return [row.id for row in rows]


def batches(run: Run, step: Step, *, total: int | None = None) -> None:
    """Batch after batch, each in a transaction of its own, until one is not full; then the record is closed."""
    after = bulk.START
    while True:
        with tenant_context(run.tenant_id):
            ids = batch(run, step, after=after, final=run.status, last=True)
        run.tell(total)
        if len(ids) < bulk.BATCH:
            return
        after = ids[-1]


def _event(run: Run, step: Step, row: bulk.Changed) -> audit.Event:
    score = {} if row.score is None else {"score": round(row.score, 6)}
    before: dict[str, object]
    after: dict[str, object]
    if step.status is None:
        before, after = {"confidence": float(row.was)}, {"confidence": row.score}
    else:
        before, after = {"status": row.was}, {"status": step.status, **score}
    return audit.Event(
        step.action, "memory", show_id("mem", row.id), scope=row.scope, reason=step.reason, before=before, after=after,
        policy_version=run.record.policy_version,
    )  # fmt: skip

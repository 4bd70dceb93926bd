"""Expiry: rows past `expires_at` or `valid_to` leave the live statuses, and so does what a value that waited overtook.

Readers have not been shown them since that instant; this only makes the status say so.  For the same reason
the guard against large removals does not apply: nothing that a reader could get now is taken away.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.types import Status
from memory.models import SweepRun
from memory.selectors import removal
from memory.services.sweeps.begun import count_overtaken, settle_begun
from memory.services.sweeps.run import Progress, Step, batches, running
from memory.store import memories
from tenants.context import tenant_context


def sweep_expiry(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Expire what is past its time.  Three statements for up to a batch of rows, however large the tenant."""
    with running(tenant_id, "expiry", dry_run=dry_run, progress=progress, now=now) as run:
        if dry_run:
            with tenant_context(tenant_id):
                run.record.changed = removal.count_expired(run.now) + count_overtaken(run.now)
                run.finish()
            return run.result()
        waited = settle_begun(run)
        step = Step(
            removal.PICK_EXPIRED, removal.expired_parameters(run.now), "memory.expired", "its time is over",
            Status.EXPIRED.value,
        )  # fmt: skip
        batches(run, step)
        if waited:
            with tenant_context(tenant_id):
                memories.begun(run.now)
    return run.result()

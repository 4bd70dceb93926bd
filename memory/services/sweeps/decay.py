"""Decay: memories that nobody used or confirmed for long, and that are not pinned, are evicted.

The rule is `memory.domain.decay`; the same formula in SQL is `memory.selectors.removal`.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.types import Status
from memory.models import SweepRun
from memory.selectors import removal
from memory.selectors.policies import active_policy
from memory.services.sweeps.guard import hold_back
from memory.services.sweeps.run import Progress, Step, batches, running
from tenants.context import tenant_context


def sweep_decay(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Evict what has decayed below the floor of its scope's policy, except in scopes that the guard holds."""
    with running(tenant_id, "decay", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
            found = removal.faded_by_scope(active.policy, run.now)
            run.record.scanned = sum(one.live for one in found)
            held = {one.scope for one in hold_back(run, found, active.policy)}
            total = sum(one.removable for one in found if one.scope not in held)
            if dry_run or not total:
                run.record.changed = total
                run.finish()
                return run.result()
        parameters = {**removal.decay_parameters(active.policy, run.now), "stopped": sorted(held)}
        step = Step(
            removal.PICK_FADED, parameters, "memory.evicted", "unused and unconfirmed: decayed below the floor",
            Status.EVICTED.value,
        )  # fmt: skip
        batches(run, step, total=total)
    return run.result()

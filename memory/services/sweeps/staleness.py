"""Staleness: volatile facts (versions, deadlines, states) lose confidence with age.

A memory thus weakened loses against a newer value, fades sooner, and stands on the list to verify again, which
is computed when it is looked at.  Confirming it moves `learned_at`; the lost confidence comes back by an edit.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.models import SweepRun
from memory.selectors import stale
from memory.selectors.policies import active_policy
from memory.services.sweeps.run import Progress, Step, batches, running
from memory.store import bulk
from tenants.context import tenant_context


def sweep_staleness(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Lower the confidence of volatile facts by their age."""
    with running(tenant_id, "staleness", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
            if dry_run:
                run.record.changed = stale.count_stale(
                    active.policy, run.now, bulk.START, active.words.registry
                )
                run.finish()
                return run.result()
        step = Step(
            stale.PICK_STALE, stale.stale_parameters(active.policy, run.now, active.words.registry), stale.AGED,
            "volatile, and long not confirmed", None,
        )  # fmt: skip
        batches(run, step)
    return run.result()

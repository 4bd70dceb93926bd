"""Retention: records of what happened that the policy keeps no longer: manifests, health snapshots, runs of sweeps; and
answers kept for idempotency keys, after their 24 hours.

Of memories only tombstones are touched: what was deleted and can be restored no longer loses its text, and its shell
stays.  Nothing else that is deleted here could still be read: readers stop at the retention by themselves.  Whole
months of manifests are dropped for all tenants at once (`memory.services.manifest_months`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory.domain.ids import show_id
from memory.domain.months import rows_end
from memory.domain.policy_keep_rules import Retention
from memory.models import SweepRun
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.scope_rules import policies_by_key
from memory.services.sweeps.run import Progress, Run, running
from memory.store import alert_channels, audit, bulk, health, idempotency, manifests, purge
from tenants.context import tenant_context

_BATCH: Final = 1000
# What a tenant should find in its audit when it is gone; the rest is bookkeeping.
_AUDITED: Final = frozenset({"manifests", "health snapshots"})

_OVER: Final = "deleted, and no longer to be restored"

# Deletes at most so many rows; asked with 0 it says how many there are.
Drop = Callable[[int], int]


def sweep_retention(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Delete what is past its retention, batch by batch."""
    with running(tenant_id, "retention", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
        _purge(run, active)
        for name, drop in _drops(active.policy.retention, run.now).items():
            _drop_all(run, name, drop)
        with tenant_context(tenant_id):
            run.finish()
    return run.result()


def _purge(run: Run, active: ActivePolicy) -> None:
    """Empty tombstones that can be restored no longer, under the longest time that any scope gives."""
    days = max(one.retention.restore_days for one in policies_by_key(active.policy).values())
    end = run.now - timedelta(days=days)
    while True:
        with tenant_context(run.tenant_id):
            if run.dry_run:
                run.record.changed += purge.count_deleted(end)
                return
            gone = purge.purge_deleted(end, _BATCH, actor=run.actor.name, reason=_OVER, now=run.now)
            events = [
                audit.Event(
                    purge.PURGED, "memory", show_id("mem", memory_id), scope=scope, reason=_OVER,
                    before={"status": "deleted"}, after={"status": "erased"},
                    policy_version=run.record.policy_version,
                )
                for memory_id, scope in gone
            ]  # fmt: skip
            audit.append(run.actor, events, run.now)
        run.record.changed += len(gone)
        run.tell()
        if len(gone) < _BATCH:
            return


def _drops(rules: Retention, now: datetime) -> Mapping[str, Drop]:
    manifests_end = rows_end(timedelta(days=rules.manifest_days), now)
    snapshots_end = now - timedelta(days=rules.health_days)
    runs_end = now - timedelta(days=rules.sweep_run_days)
    return {
        "manifests": lambda most: manifests.drop_before(manifests_end, most),
        "health snapshots": lambda most: health.drop_before(snapshots_end, most),
        "messages about alerts": lambda most: alert_channels.drop_before(runs_end, most),
        "sweep runs": lambda most: bulk.drop_runs_before(runs_end, most),
        "idempotency keys": lambda most: idempotency.drop_old(now, most),
    }


def _drop_all(run: Run, name: str, drop: Drop) -> None:
    while True:
        with tenant_context(run.tenant_id):
            gone = drop(0 if run.dry_run else _BATCH)
            if gone and name in _AUDITED and not run.dry_run:
                event = audit.Event(
                    "records.dropped", "tenant", name, reason="their time is over", before={"rows": gone},
                    policy_version=run.record.policy_version,
                )  # fmt: skip
                audit.append(run.actor, [event], run.now)
        run.record.changed += gone
        run.tell()
        if run.dry_run or gone < _BATCH:
            return

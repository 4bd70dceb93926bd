"""The health snapshot: every metric measured and kept, once per hour however often it is asked for.

Old hours become days on the way, and the sample of the week is drawn.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from memory.models import SweepRun
from memory.selectors import health
from memory.selectors.policies import active_policy
from memory.services.alert_delivery import deliveries_send
from memory.services.alerts_watch import metrics_watched
from memory.services.embedding import present_model
from memory.services.health_sample import sample_draw
from memory.services.sweeps.run import Progress, running
from memory.store import health as snapshots
from tenants.context import tenant_context


def sweep_health(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Measure the tenant and its scopes for the present hour, and fold the hours of days that are long over."""
    with (
        running(tenant_id, "health", dry_run=dry_run, progress=progress, now=now) as run,
        tenant_context(tenant_id),
    ):
        active = active_policy()
        run.record.policy_version = active.number
        figures = health.measure(run.now, present_model())
        run.record.scanned = int(figures.get(health.ALL, {}).get("live_facts") or 0)
        period = run.now.replace(minute=0, second=0, microsecond=0)
        run.record.changed = len(figures) if dry_run else snapshots.upsert(figures, period)
        if not dry_run:
            metrics_watched(figures, run.now)
        run.finish()
    if not dry_run:
        _fold(tenant_id, run.now - timedelta(days=active.policy.retention.health_hours_days))
        sample_draw(tenant_id, run.now)
        deliveries_send(tenant_id, run.now)
    return run.result()


def _fold(tenant_id: UUID, before: datetime) -> None:
    """Day by day, each in a transaction of its own.  Usually there is one, and mostly none."""
    end = before.replace(hour=0, minute=0, second=0, microsecond=0)
    while True:
        with tenant_context(tenant_id):
            oldest = snapshots.oldest_hour(end)
            if oldest is None:
                return
            snapshots.fold_day(oldest.replace(hour=0, minute=0, second=0, microsecond=0))

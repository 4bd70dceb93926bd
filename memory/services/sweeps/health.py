"""The health snapshot: every metric measured and kept, once per hour however often it is asked for."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.models import SweepRun
from memory.selectors import health
from memory.selectors.policies import active_policy
from memory.services.embedding import present_model
from memory.services.sweeps.run import Progress, running
from memory.store import health as snapshots
from tenants.context import tenant_context


def sweep_health(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Measure the tenant and its scopes for the present hour."""
    with (
        running(tenant_id, "health", dry_run=dry_run, progress=progress, now=now) as run,
        tenant_context(tenant_id),
    ):
        run.record.policy_version = active_policy().number
        figures = health.measure(run.now, present_model())
        run.record.scanned = int(figures.get(health.ALL, {}).get("live_facts") or 0)
        period = run.now.replace(minute=0, second=0, microsecond=0)
        run.record.changed = len(figures) if dry_run else snapshots.upsert(figures, period)
        run.finish()
    return run.result()

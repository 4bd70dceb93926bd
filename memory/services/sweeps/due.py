"""Whether a daily sweep is to run for a tenant now; the others always are."""

from __future__ import annotations

from uuid import UUID

from memgov import clock
from memory import schedule
from memory.domain.off_peak import is_due
from memory.models import SweepRun
from memory.selectors.policies import active_policy
from tenants.context import tenant_context


def sweep_is_due(tenant_id: UUID, name: str) -> bool:
    """By the tenant's off-peak hours and its last run.  A run that died counts as none: the next one goes on."""
    hour = schedule.DAILY_HOURS.get(name)
    if hour is None:
        return True
    with tenant_context(tenant_id):
        died = (
            ("running",) if name == "chain" else ("running", "failed")
        )  # a broken chain is a finding, not a failure
        rows = SweepRun.objects.filter(name=name, dry_run=False).exclude(status__in=died)
        if rows.filter(details__has_key="approved").exclude(details__has_key="applied_by").exists():
            return True  # a person let a stopped run go ahead, and waits for it
        last = rows.order_by("-started_at").values_list("started_at", flat=True).first()
        return is_due(hour, active_policy().policy.sweeps, last, clock.now())

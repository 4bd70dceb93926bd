"""Keeping the months of the manifest tables: made ahead, and dropped whole when they are over for every tenant.

For the installation, not for one tenant.  What a tenant with a shorter retention has to lose before that is deleted
by its own sweep (`memory.services.sweeps.retention`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from memgov import clock
from memory.domain.months import AHEAD, following, is_over, month_of
from memory.selectors import months as found
from memory.selectors.policies import active_policy
from memory.store import audit
from memory.store import months as store
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import system


@dataclass(slots=True)
class Kept:
    """What was made and dropped, and what could not be: it is tried again the next time."""

    made: list[date] = field(default_factory=list)
    dropped: list[date] = field(default_factory=list)
    left: list[date] = field(default_factory=list)


def manifest_months_keep(now: datetime | None = None) -> Kept:
    """Make this month and the next ones, drop those that no tenant keeps any more; each in a transaction of its own.

    A tenant that is suspended keeps what it has.  Every tenant that loses rows by it finds that in its audit.
    """
    now = now or clock.now()
    kept = Kept()
    for ahead in range(AHEAD + 1):
        month = following(month_of(now), ahead)
        made = store.add(month)
        if made is not False:
            (kept.left if made is None else kept.made).append(month)
    tenants = list(Tenant.objects.order_by("id").values_list("id", flat=True))
    longest = max(map(_retention, tenants), default=None)
    for month in found.months():
        if longest is not None and is_over(month, longest, now):
            _drop(month, tenants, kept, now)
    return kept


def _retention(tenant_id: UUID) -> timedelta:
    with tenant_context(tenant_id):
        return timedelta(days=active_policy().policy.retention.manifest_days)


def _drop(month: date, tenants: Sequence[UUID], kept: Kept, now: datetime) -> None:
    losing = {tenant_id: rows for tenant_id in tenants if (rows := _rows(tenant_id, month))}
    if store.drop(month) is None:
        kept.left.append(month)
        return
    kept.dropped.append(month)
    for tenant_id, rows in losing.items():
        event = audit.Event(
            "manifests.dropped",
            "manifests",
            f"{month:%Y-%m}",
            reason="their time is over",
            before={"manifests": rows},
        )
        with tenant_context(tenant_id):
            audit.append(system(tenant_id, "sweep.retention"), [event], now)


def _rows(tenant_id: UUID, month: date) -> int:
    with tenant_context(tenant_id):
        return found.rows_in(month)

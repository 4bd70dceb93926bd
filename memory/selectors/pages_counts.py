"""How much waits in each queue: one round trip, on indexes, the same on every page."""

from __future__ import annotations

from django.db import connection

from memgov import clock
from memory.selectors.pages_paging import COUNTED, Tally
from tenants.context import current_tenant_id

_ROWS = {
    "promotions": "memory_promotionrequest WHERE tenant_id = %(tenant)s AND status = 'pending'",
    "contradictions": "memory_contradiction WHERE tenant_id = %(tenant)s AND status = 'open'",
    "quarantine": "memory_memory WHERE tenant_id = %(tenant)s AND status = 'quarantined'",
    "evictions": "memory_memory WHERE tenant_id = %(tenant)s AND status = 'evicted'",
    "alerts": "memory_alert WHERE tenant_id = %(tenant)s AND acknowledged_at IS NULL"
    " AND (snoozed_until IS NULL OR snoozed_until <= %(now)s)",
}
_WAITING = "SELECT " + ", ".join(
    f"(SELECT count(*) FROM (SELECT FROM {rows} LIMIT %(limit)s) AS {name})" for name, rows in _ROWS.items()
)


def waiting() -> dict[str, Tally]:
    """Open items by the name of their page, counted as far as every page counts."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, {"tenant": current_tenant_id(), "now": clock.now(), "limit": COUNTED + 1})
        return dict(zip(_ROWS, map(Tally.of, cursor.fetchone()), strict=True))

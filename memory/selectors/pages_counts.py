"""How much waits in each queue: one round trip, on indexes, the same on every page."""

from __future__ import annotations

from django.db import connection

from memgov import clock
from tenants.context import current_tenant_id

_WAITING = """
SELECT (SELECT count(*) FROM memory_promotionrequest WHERE tenant_id = %(tenant)s AND status = 'pending'),
       (SELECT count(*) FROM memory_contradiction WHERE tenant_id = %(tenant)s AND status = 'open'),
       (SELECT count(*) FROM memory_memory WHERE tenant_id = %(tenant)s AND status = 'quarantined'),
       (SELECT count(*) FROM memory_memory WHERE tenant_id = %(tenant)s AND status = 'evicted'),
       (SELECT count(*) FROM memory_alert WHERE tenant_id = %(tenant)s AND acknowledged_at IS NULL
           AND (snoozed_until IS NULL OR snoozed_until <= %(now)s))
"""


def waiting() -> dict[str, int]:
    """Open items by the name of their page."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, {"tenant": current_tenant_id(), "now": clock.now()})
        promotions, contradictions, quarantine, evictions, alerts = cursor.fetchone()
    return {
        "promotions": promotions,
        "contradictions": contradictions,
        "quarantine": quarantine,
        "evictions": evictions,
        "alerts": alerts,
    }

"""Values whose beginning has come: what held until then is superseded by them.

Readers have had the new value since that instant (`memory.domain.validity`); this makes the statuses say so.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection

from memory.domain import lifecycle
from memory.models import Memory
from memory.models.memory import LIVE_STATUSES
from memory.selectors.policies import active_policy
from memory.selectors.timely import OVERTAKEN_BY
from memory.services.changes import Changes
from memory.services.sweeps.run import Run
from memory.store import memories
from tenants.context import current_tenant_id, tenant_context

_MOST: Final = 200
_PAIRS: Final = f"""
SELECT DISTINCT ON (old) old, new FROM ({OVERTAKEN_BY}) pair ORDER BY old, begins_at DESC, new LIMIT {_MOST}
"""
_COUNT: Final = f"SELECT count(DISTINCT old) FROM ({OVERTAKEN_BY}) pair"


def settle_begun(run: Run) -> bool:
    """Supersede what was overtaken, some hundred at a time, each with its audit event; whether anything has begun."""
    with tenant_context(run.tenant_id):
        waited: bool = Memory.objects.filter(begins_at__lte=run.now, status__in=LIVE_STATUSES).exists()
    while waited:
        with tenant_context(run.tenant_id):
            pairs = _pairs(run.now)
            rows = memories.lock({one for pair in pairs.items() for one in pair})
            pairs = {old: new for old, new in _pairs(run.now).items() if old in rows and new in rows}
            changes = Changes(run.actor, run.now, active_policy())
            for old, new in pairs.items():
                changes.move(
                    rows[old], lifecycle.Event.SUPERSEDE, "memory.superseded", "the time of its successor has come",
                    superseded_by=new,
                )  # fmt: skip
            changes.finish()
        run.record.changed += len(pairs)
        run.tell()
        if len(pairs) < _MOST:
            break
    return waited


def count_overtaken(now: datetime) -> int:
    """How many would be superseded."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"tenant": current_tenant_id(), "now": now})
        return int(cursor.fetchone()[0])


def _pairs(now: datetime) -> dict[UUID, UUID]:
    """What was overtaken, with what holds in its place."""
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, {"tenant": current_tenant_id(), "now": now})
        return dict(cursor.fetchall())

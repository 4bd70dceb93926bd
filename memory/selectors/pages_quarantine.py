"""The quarantine: what is held, where it came from, and how far it reached."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from memory.models import Memory, Revision
from memory.selectors.pages_paging import Slice, Tally, by_time, newest, tallies
from tenants.context import current_tenant_id

VIEWS = ("held", "instructions", "personal")


def held(view: str, q: str) -> QuerySet[Memory]:
    """Held memories of a view that match the search."""
    rows = Memory.objects.filter(status="quarantined")
    if view != "held":
        rows = newest(rows, "status_changed_at").filter(_INSTRUCTING if view == "instructions" else _PERSONAL)
    return newest(rows, "status_changed_at").filter(_says(q)) if q else rows


def _says(q: str) -> Q:
    return Q(content__icontains=q) | Q(agent_name__icontains=q) | Q(scope__icontains=q)


def _found(*kinds: str) -> Q:
    condition = Q()
    for kind in kinds:
        condition |= Q(findings__contains=[{"kind": kind}])
    return condition


_INSTRUCTING = _found("instruction", "disguise", "procedure")
_PERSONAL = _found("pii", "personal", "secret")


def queue(view: str, q: str, cursor: str) -> Slice[Memory]:
    """One page of a view, what was held last first."""
    return by_time(held(view, ""), "status_changed_at", cursor, _says(q) if q else None)


def next_in(view: str, q: str, after: Memory) -> UUID | None:
    """What follows in the view; from its start again when that was the last one."""
    rows = held(view, q).exclude(id=after.id).order_by("-status_changed_at", "-id")
    at = after.status_changed_at
    beyond = Q(status_changed_at__lt=at) | Q(status_changed_at=at, id__lt=after.id)
    later = rows.filter(beyond, status_changed_at__lte=at)
    return later.values_list("id", flat=True).first() or rows.values_list("id", flat=True).first()


def counts() -> dict[str, Tally]:
    """How many are held; of what was found, among the newest `SEARCHED`."""
    return tallies(**{view: held(view, "") for view in VIEWS})


@dataclass(frozen=True, slots=True)
class Reach:
    """What the source wrote, and how far this memory got."""

    written: int
    held: int
    rejected: int
    derived: int
    manifests: int
    agents: int


_REACH = """
SELECT count(*), count(*) FILTER (WHERE outcome = 'held'), count(*) FILTER (WHERE outcome = 'rejected'),
       (SELECT count(*) FROM memory_memory WHERE tenant_id = %(tenant)s
           AND NOT derived_from = '{}' AND derived_from @> ARRAY[%(memory)s::uuid]),
       (SELECT count(*) FROM memory_manifestentry WHERE tenant_id = %(tenant)s AND memory_id = %(memory)s),
       (SELECT count(DISTINCT m.agent_id) FROM memory_manifestentry e
          JOIN memory_manifest m ON m.tenant_id = %(tenant)s AND m.id = e.manifest_id
         WHERE e.tenant_id = %(tenant)s AND e.memory_id = %(memory)s)
  FROM memory_writedecision WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s
"""


def reach_of(memory: Memory) -> Reach:
    """One round trip over the indexes by agent and by memory."""
    with connection.cursor() as cursor:
        parameters = {"tenant": current_tenant_id(), "memory": memory.id, "agent": memory.agent_id}
        cursor.execute(_REACH, parameters)
        return Reach(*cursor.fetchone())


def recent_of(actor_name: str, events: tuple[str, ...], now: datetime, limit: int = 8) -> list[Revision]:
    """A person's own last decisions about held memories, within the last hour."""
    rows = Revision.objects.filter(actor=actor_name, event__in=events, at__gte=now - timedelta(hours=1))
    return list(rows.order_by("-at", "-id")[:limit])

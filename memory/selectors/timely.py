"""What holds at an instant, as SQL: begun, not over, and not overtaken by a value that waited for its beginning.

The rule is `memory.domain.validity`.  For rows `m` of `memory_memory`, with parameters `tenant` and `now`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q

from memory.models import Memory
from memory.models.memory import LIVE_STATUSES

# From the few that waited to what they overtake; mostly there are none, which one look into their index tells.
_FROM: Final = f"""
  FROM memory_memory new
  JOIN memory_memory old ON old.tenant_id = %(tenant)s AND old.scope = new.scope AND old.subject = new.subject
   AND old.predicate = new.predicate AND old.claim = new.claim AND old.single_valued AND old.status IN {LIVE_STATUSES}
   AND (old.begins_at IS NULL OR old.begins_at < new.begins_at)
 WHERE new.tenant_id = %(tenant)s AND new.begins_at <= %(now)s
   AND new.single_valued AND new.status IN {LIVE_STATUSES}"""
OVERTAKEN: Final = f"SELECT old.id {_FROM}"
OVERTAKEN_BY: Final = f"SELECT old.id AS old, new.id AS new, new.begins_at {_FROM}"
NOT_OVERTAKEN: Final = f"m.id <> ALL(ARRAY({OVERTAKEN}))"
UNENDED: Final = (
    """(m.valid_from IS NULL OR m.valid_from <= %(now)s) AND (m.valid_to IS NULL OR m.valid_to > %(now)s)"""
)
HOLDS: Final = f"{UNENDED} AND {NOT_OVERTAKEN}"


def overtaken(now: datetime) -> Exists:
    """Of rows of `Memory`: whether one that waited for its beginning has taken their place."""
    began = ExpressionWrapper(OuterRef("begins_at"), output_field=DateTimeField())
    new = Memory.objects.filter(
        tenant_id=OuterRef("tenant_id"), scope=OuterRef("scope"), subject=OuterRef("subject"),
        predicate=OuterRef("predicate"), claim=OuterRef("claim"), single_valued=True, status__in=LIVE_STATUSES,
        begins_at__lte=now,
    )  # fmt: skip
    return Exists(new.annotate(began=began).filter(Q(began=None) | Q(begins_at__gt=F("began"))))


def holds(now: datetime) -> Q:
    """The same as `HOLDS`, for a query set of `Memory`."""
    begun = Q(valid_from=None) | Q(valid_from__lte=now)
    return begun & (Q(valid_to=None) | Q(valid_to__gt=now)) & ~(Q(single_valued=True) & Q(overtaken(now)))

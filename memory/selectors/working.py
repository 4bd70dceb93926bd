"""Reading working memory: present values of an agent's own task."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Max, QuerySet

from memory.models import Memory, WorkingValue, WorkRun


def present_values(agent_id: UUID | None, task: str, now: datetime) -> QuerySet[WorkingValue]:
    """The values that the task can read now, by key.  Expiry is enforced here, swept or not."""
    return WorkingValue.objects.filter(
        agent_id=agent_id, task=task, removed_at=None, expires_at__gt=now
    ).order_by("key")


def values_by_key(agent_id: UUID | None, task: str, keys: Sequence[str], now: datetime) -> list[WorkingValue]:
    """The present values under these keys, in the order of the keys."""
    found = {row.key: row for row in present_values(agent_id, task, now).filter(key__in=list(keys))}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def idle_runs(kind: str, since: datetime, limit: int) -> list[WorkRun]:
    """Open tasks (or sessions) that nothing was written to after `since`, the longest idle first."""
    runs = WorkRun.objects.filter(status="open", kind=kind, active_at__lte=since).order_by("active_at", "id")
    return list(runs[:limit])


def last_written(run: WorkRun) -> datetime:
    """When the task last wrote anything, working values and memories alike."""
    last = Memory.objects.filter(agent_id=run.agent_id, task=run.name).aggregate(last=Max("recorded_at"))[
        "last"
    ]
    return max(run.active_at, last) if last else run.active_at

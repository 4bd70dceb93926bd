"""Tasks that ended long ago, and what of them still stands in single memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.models import Memory, MountEntry, WorkRun

ENDED = ("completed", "abandoned")
# Where a task's notes are its own; what was promoted to others is theirs.
_OWN_SCOPES = ("task:", "session:", "agent:")


def ended_before(end: datetime, after: UUID, most: int) -> list[WorkRun]:
    """Tasks that ended at this instant or earlier and have not been compressed, by id."""
    rows = WorkRun.objects.filter(kind="task", status__in=ENDED, ended_at__lte=end, id__gt=after)
    return list(rows.exclude(result__has_key="compressed").order_by("id")[:most])


def notes_of(run: WorkRun, episode: UUID | None, now: datetime) -> Sequence[Memory]:
    """The episodic memories of a task that one episode can stand for: live, in its agent's own scopes, neither pinned
    nor declared by a mount."""
    own = Q()
    for prefix in _OWN_SCOPES:
        own |= Q(scope__startswith=prefix)
    rows = Memory.objects.filter(
        own, agent_id=run.agent_id, task=run.name, layer="episodic", status="live", pinned_at=None
    )
    rows = rows.exclude(id__in=MountEntry.objects.values("memory_id")).exclude(expires_at__lte=now)
    return list(rows.exclude(id=episode).order_by("recorded_at", "id"))


def live_episode(run: WorkRun) -> UUID | None:
    """The episode that the end of the task wrote, if it still stands."""
    told = run.result.get("episode") or {}
    shown = str(told.get("memory") or "")
    if not shown.startswith("mem_"):
        return None
    rows = Memory.objects.filter(id=UUID(hex=shown[4:]), status="live")
    return rows.values_list("id", flat=True).first()

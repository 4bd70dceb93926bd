"""Writing tasks and sessions of agents, and the values of working memory.

The row of a task is the lock: writers share it, whoever ends the task holds it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum

from memgov.ids import new_id
from memory.models import WorkingValue, WorkRun
from tenants.context import current_tenant_id
from tenants.principals import Principal

TASK, SESSION = "task", "session"
OPEN, COMPLETED, ROLLED_BACK, ABANDONED, ENDED = "open", "completed", "rolled_back", "abandoned", "ended"


def lock_run(principal: Principal, kind: str, name: str, now: datetime) -> WorkRun:
    """The agent's task or session, made if it is new, held alone until the transaction ends."""
    run = known_run(principal, kind, name)
    if run is None:
        _make(principal, kind, name, now)
        run = known_run(principal, kind, name)
        assert run is not None  # runs are never deleted
    return run


def known_run(principal: Principal, kind: str, name: str) -> WorkRun | None:
    """The agent's task or session if it was ever used, held alone."""
    runs = WorkRun.objects.select_for_update()
    run: WorkRun | None = runs.filter(agent_id=principal.agent_id, kind=kind, name=name).first()
    return run


def share_run(principal: Principal, kind: str, name: str, now: datetime) -> str:
    """The status of the agent's task or session, made if it is new, and shared with other writers: nobody can
    end it before the transaction ends."""
    status = _shared(principal, kind, name)
    if status is None:
        _make(principal, kind, name, now)
        status = _shared(principal, kind, name)
        assert status is not None  # runs are never deleted
    return status


def _make(principal: Principal, kind: str, name: str, now: datetime) -> None:
    assert principal.agent_id is not None  # only agents have tasks and sessions
    new = WorkRun(
        tenant_id=current_tenant_id(), id=new_id(now), kind=kind, name=name, agent_id=principal.agent_id,
        agent_name=principal.name, opened_at=now, active_at=now,
    )  # fmt: skip
    WorkRun.objects.bulk_create([new], ignore_conflicts=True)


# The ORM has no spelling for a shared lock.
_SHARED = """
SELECT status FROM memory_workrun WHERE tenant_id = %s AND agent_id = %s AND kind = %s AND name = %s FOR SHARE
"""


def _shared(principal: Principal, kind: str, name: str) -> str | None:
    with connection.cursor() as cursor:
        cursor.execute(_SHARED, [current_tenant_id(), principal.agent_id, kind, name])
        row = cursor.fetchone()
    return str(row[0]) if row else None


def update_run(run: WorkRun, **fields: object) -> None:
    """Change a run that is held alone."""
    WorkRun.objects.filter(id=run.id).update(**fields)
    for name, value in fields.items():
        setattr(run, name, value)


def load_of(run: WorkRun, now: datetime, *, beside: UUID | None) -> tuple[int, int]:
    """How many present values the task holds and their bytes, not counting one."""
    held = WorkingValue.objects.filter(
        agent_id=run.agent_id, task=run.name, removed_at=None, expires_at__gt=now
    )
    found = held.exclude(id=beside).aggregate(rows=Count("id"), bytes=Sum("size"))
    return found["rows"], found["bytes"] or 0


def put_value(value: WorkingValue, present: WorkingValue | None) -> None:
    """Store a value, in place of the present one under its key."""
    value.tenant_id = current_tenant_id()
    if present is None:
        WorkingValue.objects.bulk_create([value])
        return
    value.id, value.version, value.recorded_at = present.id, present.version + 1, present.recorded_at
    names = [
        field.attname
        for field in WorkingValue._meta.concrete_fields
        if field.attname not in ("tenant_id", "id")
    ]
    WorkingValue.objects.filter(id=present.id).update(**{name: getattr(value, name) for name in names})


def remove_values(ids: Sequence[UUID], now: datetime) -> int:
    """Take values away; they are kept for an undo until the sweep drops them."""
    return WorkingValue.objects.filter(id__in=list(ids), removed_at=None).update(removed_at=now)


def bring_back_values(ids: Sequence[UUID]) -> int:
    """Undo of `remove_values`.  An ended task takes no new values, so their keys are free."""
    gone = WorkingValue.objects.filter(id__in=list(ids)).exclude(removed_at=None)
    return gone.update(removed_at=None)


def drop_values(now: datetime, kept_since: datetime, limit: int) -> int:
    """Delete what is past its time, and what was removed before `kept_since`; at most `limit` rows."""
    over = WorkingValue.objects.filter(expires_at__lte=now, removed_at=None)
    gone = WorkingValue.objects.filter(removed_at__lte=kept_since)
    ids = list((over | gone).order_by("id").values_list("id", flat=True)[:limit])
    WorkingValue.objects.filter(id__in=ids).delete()
    return len(ids)


def abandon(ids: Sequence[UUID], since: datetime, now: datetime) -> list[str]:
    """End these tasks unless somebody has written to one meanwhile or holds it; the names of those that ended."""
    runs = WorkRun.objects.select_for_update(skip_locked=True).filter(
        id__in=list(ids), status=OPEN, active_at__lte=since
    )
    held = list(runs.order_by("id"))
    WorkRun.objects.filter(id__in=[run.id for run in held]).update(status=ABANDONED, ended_at=now)
    return [run.name for run in held]


def note_activity(active: Mapping[UUID, datetime]) -> None:
    """Remember when these tasks last wrote a memory, which their row is not told at each write."""
    for run_id, instant in active.items():
        WorkRun.objects.filter(id=run_id, status=OPEN, active_at__lt=instant).update(active_at=instant)

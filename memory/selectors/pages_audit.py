"""The audit log as people read it: filtered, newest first, along the order of the chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, QuerySet

from memory.models import AuditCheckpoint, AuditEvent, AuditHead, SweepRun

PAGE = 50
OPTIONS = 100
# An export is an answer to a question, not a backup; `memgov verify-audit --export` writes the whole chain.
MOST_EXPORTED = 50_000


@dataclass(frozen=True, slots=True)
class Sought:
    """The filters of the audit log; an empty one filters nothing."""

    q: str = ""
    action: str = ""
    actor: str = ""
    since: str = ""
    until: str = ""
    request: str = ""

    @property
    def filtered(self) -> bool:
        return self != Sought()


def events(sought: Sought) -> QuerySet[AuditEvent]:
    """The events that match, newest first."""
    rows = AuditEvent.objects.order_by("-seq")
    if sought.action:
        rows = rows.filter(action=sought.action)
    if sought.actor:
        rows = rows.filter(actor_id=sought.actor)
    if sought.request:
        rows = rows.filter(request_id=sought.request)
    since, until = _day(sought.since), _day(sought.until)
    if since:
        rows = rows.filter(at__gte=since)
    if until and until.date() < date.max:
        rows = rows.filter(at__lt=until + timedelta(days=1))
    if sought.q:
        q = sought.q
        rows = rows.filter(
            Q(target_id=q) | Q(request_id=q) | Q(reason__icontains=q) | Q(scope=q) | Q(target_id__icontains=q)
        )
    return rows


@dataclass(frozen=True, slots=True)
class Shown:
    """One page of events, with the numbers in the chain that its neighbours start from."""

    rows: list[AuditEvent]
    newer: int | None
    older: int | None


def page(sought: Sought, below: int | None, above: int | None) -> Shown:
    """One page: older than `below`, or newer than `above`, or the newest."""
    rows = events(sought)
    if above is not None:
        found = list(rows.filter(seq__gt=above).order_by("seq")[: PAGE + 1])
        more, found = len(found) > PAGE, found[:PAGE][::-1]
        return Shown(found, found[0].seq if found and more else None, found[-1].seq if found else None)
    if below is not None:
        rows = rows.filter(seq__lt=below)
    found = list(rows[: PAGE + 1])
    more, found = len(found) > PAGE, found[:PAGE]
    newer = found[0].seq if found and below is not None else None
    return Shown(found, newer, found[-1].seq if found and more else None)


def exported(sought: Sought) -> Iterator[AuditEvent]:
    """The events that match, for a file."""
    return events(sought)[:MOST_EXPORTED].iterator(chunk_size=1000)


def actions() -> list[str]:
    """Actions that occur."""
    rows = AuditEvent.objects.order_by("action").values_list("action", flat=True).distinct()
    return list(rows[:OPTIONS])


def actors() -> list[tuple[str, str]]:
    """Who occurs: id and the name used last."""
    rows = AuditEvent.objects.order_by("actor_id", "-seq").distinct("actor_id")
    return list(rows.values_list("actor_id", "actor_name")[:OPTIONS])


@dataclass(frozen=True, slots=True)
class ChainState:
    """What the last verification said: ok, broken or unknown."""

    state: str
    checked_at: datetime | None
    length: int
    note: str


def chain_state() -> ChainState:
    """The length of the chain and the last verification of it."""
    length = AuditHead.objects.values_list("seq", flat=True).first() or 0
    run = (
        SweepRun.objects.filter(name="chain", dry_run=False).exclude(status="running").order_by("-started_at")
    )
    last = run.first()
    if last is None:
        point = AuditCheckpoint.objects.order_by("-seq").values_list("at", flat=True).first()
        return ChainState("ok" if point else "unknown", point, length, "")
    return ChainState("broken" if last.status == "failed" else "ok", last.finished_at, length, last.note)


def _day(text: str) -> datetime | None:
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC) if text else None
    except ValueError:
        return None

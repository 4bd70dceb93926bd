"""Health over days: the last snapshot of each day, and where the policy changed meanwhile."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.db.models import Q
from django.db.models.functions import TruncDay

from memory.models import HealthSnapshot, Memory, PolicyVersion
from memory.models.memory import LIVE_STATUSES
from memory.selectors.health import Point
from memory.selectors.pages_paging import count_up_to
from memory.selectors.timely import holds


def by_day(scope: str, now: datetime, days: int) -> list[Point | None]:
    """One point for each of the last `days` days, oldest first; None for a day without a snapshot."""
    first = now.date() - timedelta(days=days - 1)
    rows = (
        HealthSnapshot.objects.filter(scope=scope, period__date__gte=first, period__lte=now)
        .annotate(day=TruncDay("period"))
        .order_by("day", "-period")
        .distinct("day")
    )
    known: dict[date, Point] = {
        day.date(): Point(period, figures, span, spread)
        for day, period, figures, span, spread in rows.values_list(
            "day", "period", "figures", "span", "spread"
        )
    }
    return [known.get(first + timedelta(days=at)) for at in range(days)]


def live_now(scope: str, now: datetime) -> float | None:
    """Readable rows at this moment, counted where that is cheap; None where there are too many."""
    rows = Memory.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now), holds(now), status__in=LIVE_STATUSES
    )
    count, more = count_up_to(rows.filter(scope=scope) if scope else rows)
    return None if more else float(count)


def by_hour(scope: str, now: datetime, days: int) -> list[tuple[datetime, Point | None]]:
    """One point for each hour of the last `days` days, oldest first; None for an hour without a snapshot."""
    last = now.replace(minute=0, second=0, microsecond=0)
    first = last - timedelta(hours=days * 24 - 1)
    rows = HealthSnapshot.objects.filter(
        scope=scope, span=HealthSnapshot.HOUR, period__gte=first, period__lte=now
    )
    known: dict[datetime, Point] = {}
    for period, figures in rows.order_by("period").values_list("period", "figures"):
        known[period.replace(minute=0, second=0, microsecond=0)] = Point(period, figures)
    hours = [first + timedelta(hours=at) for at in range(days * 24)]
    return [(hour, known.get(hour)) for hour in hours]


def policy_marks(since: datetime) -> list[PolicyVersion]:
    """Versions that were activated in the time, oldest first; the very first one changed nothing."""
    rows = PolicyVersion.objects.filter(activated_at__gte=since, number__gt=1)
    return list(rows.order_by("activated_at"))

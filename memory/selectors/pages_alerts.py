"""Alerts for the pages: what needs a look, where alerts are told, what did not arrive."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import Alert, AlertChannel, AlertDelivery
from memory.selectors.pages_paging import Slice, Tally, by_time, tallies

OPEN, SNOOZED, ALL = "open", "snoozed", "all"
_LISTED = 50


def alerts(view: str, now: datetime) -> QuerySet[Alert]:
    """Alerts of a view."""
    rows = Alert.objects.all()
    if view == OPEN:
        return rows.filter(_awake(now), acknowledged_at=None)
    if view == SNOOZED:
        return rows.filter(acknowledged_at=None, snoozed_until__gt=now)
    return rows


def _awake(now: datetime) -> Q:
    return Q(snoozed_until=None) | Q(snoozed_until__lte=now)


def page(view: str, cursor: str, now: datetime) -> Slice[Alert]:
    """One page of a view, newest first."""
    return by_time(alerts(view, now), "opened_at", cursor)


def counts(now: datetime) -> dict[str, Tally]:
    """How many need a look, and how many are snoozed."""
    return tallies(**{view: alerts(view, now) for view in (OPEN, SNOOZED)})


def channels() -> list[AlertChannel]:
    """Where alerts are told."""
    return list(AlertChannel.objects.order_by("kind", "address"))


def channel(channel_id: UUID) -> AlertChannel | None:
    """One channel."""
    row: AlertChannel | None = AlertChannel.objects.filter(id=channel_id).first()
    return row


def last_deliveries(ids: list[UUID]) -> Mapping[UUID, AlertDelivery]:
    """The newest message of each channel."""
    rows = AlertDelivery.objects.filter(channel_id__in=ids).order_by("channel_id", "-created_at", "-id")
    return {row.channel_id: row for row in rows.distinct("channel_id")}


def undelivered() -> tuple[list[AlertDelivery], int]:
    """Messages that were given up, newest first, and how many there are."""
    dead = AlertDelivery.objects.filter(status=AlertDelivery.DEAD)
    return list(dead.order_by("-created_at")[:_LISTED]), dead.count()


def trying() -> list[AlertDelivery]:
    """Messages that have failed and are tried again."""
    rows = AlertDelivery.objects.filter(status=AlertDelivery.WAITING, attempts__gt=0).exclude(error="")
    return list(rows.order_by("next_at")[:_LISTED])

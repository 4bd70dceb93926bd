"""Writing alerts: opened once for an occasion, counted up while it lasts, ended or acknowledged, and told.

What is to be told is written with what it tells, in one transaction: a message is neither sent for an alert that was
taken back nor lost with a process (`memory.services.alert_delivery` sends).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import F

from memgov.ids import new_id
from memory.domain.alerting import cloud_event, told_to
from memory.domain.ids import show_id
from memory.models import Alert, AlertChannel, AlertDelivery
from tenants.context import current_tenant_id
from tenants.models import Tenant

OPENED, WORSE, ENDED, TEST = "opened", "worse", "ended", "test"
_MOST_WAITING: Final = 200
"""Messages that may wait for one channel: a receiver that is away for a week is not flooded when it is back."""


def raise_alert(alert: Alert, now: datetime) -> bool:
    """Open the alert, or count one more of the open one; whether it is new.  A new one is told."""
    alert.tenant_id = current_tenant_id()
    open_ones = Alert.objects.filter(
        kind=alert.kind, target=alert.target, acknowledged_at=None, ended_at=None
    )
    if open_ones.update(count=F("count") + 1, last_at=now):
        return False
    Alert.objects.bulk_create([alert], ignore_conflicts=True)
    if not Alert.objects.filter(id=alert.id).exists():
        return False
    tell(alert, OPENED, now)
    return True


def last_of(kind: str, target: str) -> Alert | None:
    """The newest alert about a target, locked."""
    rows = Alert.objects.select_for_update().filter(kind=kind, target=target)
    alert: Alert | None = rows.order_by("-opened_at", "-id").first()
    return alert


def standing_of(kind: str) -> dict[str, Alert]:
    """Alerts of a kind that have not ended, by target."""
    return {row.target: row for row in Alert.objects.filter(kind=kind, ended_at=None).order_by("opened_at")}


def lock(alert_id: UUID) -> Alert | None:
    """The alert, locked."""
    alert: Alert | None = Alert.objects.select_for_update().filter(id=alert_id).first()
    return alert


def update(alert: Alert, **fields: Any) -> None:
    """Change a locked alert."""
    Alert.objects.filter(id=alert.id).update(**fields)
    for name, value in fields.items():
        setattr(alert, name, value)


def tell(alert: Alert, event: str, now: datetime) -> int:
    """Write a message for every channel that wants to know; how many."""
    if alert.snoozed_until is not None and alert.snoozed_until > now:
        return 0
    channels = [
        channel
        for channel in AlertChannel.objects.filter(disabled_at=None).order_by("id")
        if told_to(channel.least, alert.severity)
    ]
    if not channels:
        return 0
    tenant = Tenant.objects.get(id=current_tenant_id())
    return sum(_wrote(channel, _data(alert, tenant), event, alert.id, now, tenant) for channel in channels)


def tell_test(channel: AlertChannel, now: datetime, who: str) -> AlertDelivery:
    """Write a message that only shows that the channel works."""
    tenant = Tenant.objects.get(id=current_tenant_id())
    data = {"message": f"This is a test, asked for by {who}. Nothing is wrong.", "severity": "warning"}
    return _insert(channel, data, TEST, None, now, tenant)


def _wrote(
    channel: AlertChannel, data: dict[str, Any], event: str, alert_id: UUID, now: datetime, tenant: Tenant
) -> bool:
    waiting = AlertDelivery.objects.filter(channel_id=channel.id, status=AlertDelivery.WAITING)
    if waiting.count() >= _MOST_WAITING:
        return False
    _insert(channel, data, event, alert_id, now, tenant)
    return True


def _insert(
    channel: AlertChannel,
    data: dict[str, Any],
    event: str,
    alert_id: UUID | None,
    now: datetime,
    tenant: Tenant,
) -> AlertDelivery:
    delivery = AlertDelivery(
        id=new_id(now), tenant_id=tenant.id, channel_id=channel.id, alert_id=alert_id, event=event,
        next_at=now, created_at=now,
    )  # fmt: skip
    source = f"{settings.PUBLIC_URL.rstrip('/')}/t/{tenant.slug}/"
    told = {**data, "tenant": tenant.slug, "url": f"{source}alerts/"}
    delivery.body = cloud_event(show_id("dlv", delivery.id), source, event, now, told)
    AlertDelivery.objects.bulk_create([delivery])
    return delivery


def _data(alert: Alert, tenant: Tenant) -> dict[str, Any]:
    return {
        "id": show_id("alr", alert.id),
        "kind": alert.kind,
        "severity": alert.severity,
        "scope": alert.scope or None,
        "target": alert.target,
        "message": alert.message,
        "opened_at": alert.opened_at.isoformat(),
        "ended_at": alert.ended_at.isoformat() if alert.ended_at else None,
        "evidence": alert.evidence,
    }

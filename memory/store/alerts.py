"""Writing alerts: opened once for an occasion, counted up while it lasts, acknowledged by a person."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from memory.models import Alert
from tenants.context import current_tenant_id


def raise_alert(alert: Alert, now: datetime) -> bool:
    """Open the alert, or count one more of the open one; whether it is new."""
    alert.tenant_id = current_tenant_id()
    open_ones = Alert.objects.filter(kind=alert.kind, target=alert.target, acknowledged_at=None)
    if open_ones.update(count=F("count") + 1, last_at=now):
        return False
    Alert.objects.bulk_create([alert], ignore_conflicts=True)
    return Alert.objects.filter(id=alert.id).exists()


def lock(alert_id: UUID) -> Alert | None:
    """The alert, locked."""
    alert: Alert | None = Alert.objects.select_for_update().filter(id=alert_id).first()
    return alert


def update(alert: Alert, **fields: Any) -> None:
    """Change a locked alert."""
    Alert.objects.filter(id=alert.id).update(**fields)
    for name, value in fields.items():
        setattr(alert, name, value)

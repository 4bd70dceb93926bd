"""Writing where alerts are told, by which rules they are raised, and how far each message got."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from memory.domain.alerting import Rule
from memory.models import AlertChannel, AlertDelivery, AlertRule
from memory.store import sealed
from tenants.context import current_tenant_id

_PURPOSE: Final = "webhook secret"
LEASE: Final = timedelta(seconds=90)
"""How long a message belongs to the worker that took it."""


def insert(channel: AlertChannel, secret: str | None) -> bool:
    """Store a channel; False when there is one of this address already."""
    channel.tenant_id = current_tenant_id()
    channel.secret = sealed.seal(_PURPOSE, secret) if secret else None
    AlertChannel.objects.bulk_create([channel], ignore_conflicts=True)
    return AlertChannel.objects.filter(id=channel.id).exists()


def secret_of(channel: AlertChannel) -> str:
    """The secret of a webhook."""
    assert channel.secret is not None
    return sealed.unseal(_PURPOSE, bytes(channel.secret))


def lock(channel_id: UUID) -> AlertChannel | None:
    """The channel, locked."""
    row: AlertChannel | None = AlertChannel.objects.select_for_update().filter(id=channel_id).first()
    return row


def update(channel: AlertChannel, **fields: Any) -> None:
    """Change a locked channel."""
    AlertChannel.objects.filter(id=channel.id).update(**fields)
    for name, value in fields.items():
        setattr(channel, name, value)


def remove(channel: AlertChannel) -> None:
    """Forget a channel with its messages."""
    AlertDelivery.objects.filter(channel_id=channel.id).delete()
    AlertChannel.objects.filter(id=channel.id).delete()


def rule_upsert(metric: str, scope: str, rule: Rule, who: str, now: datetime) -> None:
    """Set the rule of a metric and scope."""
    AlertRule.objects.bulk_create(
        [
            AlertRule(
                tenant_id=current_tenant_id(), metric=metric, scope=scope, watch=rule.watch, breach=rule.breach,
                tell=rule.tell, slack=rule.slack, quiet_minutes=rule.quiet_minutes, updated_by=who, updated_at=now,
            )
        ],
        update_conflicts=True,
        unique_fields=["tenant", "metric", "scope"],
        update_fields=["watch", "breach", "tell", "slack", "quiet_minutes", "updated_by", "updated_at"],
    )  # fmt: skip


def rule_remove(metric: str, scope: str) -> bool:
    """Forget a rule; whether there was one."""
    gone, _each = AlertRule.objects.filter(metric=metric, scope=scope).delete()
    return bool(gone)


def _sendable(now: datetime) -> QuerySet[AlertDelivery]:
    """Messages that are due and may go: while their channel is switched off only what a person asks for does.

    That is a test, or a message that was given up (it has the error) and was then sent again by hand.
    """
    off = AlertChannel.objects.filter(id=OuterRef("channel_id"), disabled_at__isnull=False)
    asked_for = Q(alert_id__isnull=True) | (Q(attempts=0) & ~Q(error=""))
    due = AlertDelivery.objects.filter(status=AlertDelivery.WAITING, next_at__lte=now)
    return due.filter(asked_for | ~Exists(off))


def take(delivery_id: UUID, now: datetime) -> AlertDelivery | None:
    """The message, if it is due: this attempt counts, and nobody else gets it while the lease lasts."""
    due = _sendable(now).filter(id=delivery_id)
    if not due.update(attempts=F("attempts") + 1, next_at=now + LEASE):
        return None
    row: AlertDelivery = AlertDelivery.objects.get(id=delivery_id)
    return row


def ended(delivery: AlertDelivery, now: datetime, **fields: Any) -> bool:
    """Write how an attempt ended; False when somebody else has taken the message since."""
    mine = AlertDelivery.objects.filter(
        id=delivery.id, status=AlertDelivery.WAITING, attempts=delivery.attempts
    )
    if fields.get("status") in (AlertDelivery.SENT, AlertDelivery.DEAD):
        fields["done_at"] = now
    return bool(mine.update(**fields))


def due(now: datetime, limit: int) -> list[UUID]:
    """Messages that wait to be sent, the longest first."""
    return list(_sendable(now).order_by("next_at", "id").values_list("id", flat=True)[:limit])


def again(delivery_id: UUID, now: datetime) -> bool:
    """Let a message that was given up wait again, from its first attempt; False when it was not given up."""
    dead = AlertDelivery.objects.filter(id=delivery_id, status=AlertDelivery.DEAD)
    fields: dict[str, Any] = {"status": AlertDelivery.WAITING, "attempts": 0, "next_at": now, "done_at": None}
    return bool(dead.update(**fields))


def drop_before(end: datetime, most: int) -> int:
    """Delete at most `most` messages that are done and older; with 0 only count them."""
    rows = AlertDelivery.objects.exclude(status=AlertDelivery.WAITING).filter(created_at__lt=end)
    if not most:
        return rows.count()
    ids = list(rows.order_by("id").values_list("id", flat=True)[:most])
    AlertDelivery.objects.filter(id__in=ids).delete()
    return len(ids)

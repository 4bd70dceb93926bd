"""Sending what was written to be told: taken by one worker at a time, tried again with growing waits, given up at last.

A message is sent at least once: a worker that dies between sending and noting it leaves it to be sent again under the
same id.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.core.mail import EmailMessage
from django.utils import translation

from memgov import clock
from memgov.celery import app
from memory import schedule
from memory.clients import webhooks
from memory.domain.alerting import wait_after
from memory.domain.ids import show_id
from memory.models import AlertChannel, AlertDelivery
from memory.services.accounts import language_of
from memory.services.alert_words import mail_text, subject_line
from memory.store import alert_channels, audit
from tenants.context import tenant_context
from tenants.principals import system

log = logging.getLogger(__name__)

_AT_ONCE: Final = 500
# Longer waits are left to the watch of every minute: a message held by the broker for hours is delivered twice.
_BY_THE_BROKER: Final = timedelta(minutes=10)
_GONE: Final = 410


def deliveries_send(tenant_id: UUID, now: datetime | None = None) -> int:
    """Hand every message that is due to the workers; how many."""
    with tenant_context(tenant_id):
        waiting = alert_channels.due(now or clock.now(), _AT_ONCE)
    for delivery_id in waiting:
        _hand(tenant_id, delivery_id)
    return len(waiting)


def _hand(tenant_id: UUID, delivery_id: UUID, wait: timedelta = timedelta(0)) -> None:
    """Give one message to a worker.  If the broker does not take it, the next watch does."""
    try:
        app.send_task(
            schedule.DELIVER, [str(tenant_id), str(delivery_id)], countdown=wait.total_seconds(), expires=3600,
            retry=False,
        )  # fmt: skip
    except Exception as error:
        log.warning("a message about an alert waits for the next watch: %s", error)


def delivery_send(tenant_id: UUID, delivery_id: UUID, now: datetime | None = None) -> str:
    """Send one message, if it is due; how it ended: sent, again, dead, or not due."""
    now = now or clock.now()
    with tenant_context(tenant_id):
        delivery = alert_channels.take(delivery_id, now)
        if delivery is None:
            return "not due"
        channel = AlertChannel.objects.get(id=delivery.channel_id)
        if delivery.attempts > 1 and wait_after(delivery.attempts - 1) is None:  # a worker died on each
            alert_channels.ended(delivery, now, status=AlertDelivery.DEAD, error="no attempt came to an end")
            return "dead"
        secret = alert_channels.secret_of(channel) if channel.secret is not None else ""
    try:
        answer = _sent(channel, secret, delivery, now)
    except (webhooks.NotDelivered, webhooks.AddressRefused, OSError) as error:
        return _failed(tenant_id, channel, delivery, error, now)
    with tenant_context(tenant_id):
        alert_channels.ended(delivery, now, status=AlertDelivery.SENT, answer=answer, error="")
    return "sent"


def _sent(channel: AlertChannel, secret: str, delivery: AlertDelivery, now: datetime) -> int | None:
    """Outside any transaction: others take their time to answer."""
    if channel.kind == "webhook":
        return webhooks.post(channel.address, secret, delivery.body, now)
    message_id = f"<{delivery.body['id']}.{delivery.attempts}@memgov>"
    with translation.override(language_of(channel.address)):
        subject, text = subject_line(delivery), mail_text(delivery)
    EmailMessage(subject, text, to=[channel.address], headers={"Message-ID": message_id}).send()
    return None


def _failed(
    tenant_id: UUID, channel: AlertChannel, delivery: AlertDelivery, error: Exception, now: datetime
) -> str:
    status = error.status if isinstance(error, webhooks.NotDelivered) else None
    refused = isinstance(error, webhooks.AddressRefused)
    wait = None if refused or status == _GONE else wait_after(delivery.attempts)
    why = str(error) if channel.kind == "webhook" else f"the mail server: {type(error).__name__}"
    with tenant_context(tenant_id):
        if wait is not None:
            alert_channels.ended(delivery, now, next_at=now + wait, answer=status, error=why[:300])
        else:
            alert_channels.ended(delivery, now, status=AlertDelivery.DEAD, answer=status, error=why[:300])
            _given_up(channel, delivery, why, now, gone=status == _GONE)
    if wait is not None and wait <= _BY_THE_BROKER:
        _hand(tenant_id, delivery.id, wait)
    return "dead" if wait is None else "again"


def _given_up(channel: AlertChannel, delivery: AlertDelivery, why: str, now: datetime, *, gone: bool) -> None:
    """A receiver that says it is gone for good is not asked again, until a person switches it on."""
    shown = show_id("chn", channel.id)
    events = [
        audit.Event(
            "alert.undelivered", "channel", shown, reason=why[:300], after={"message": delivery.body["id"]}
        )
    ]
    if gone:
        alert_channels.update(
            channel, disabled_at=now, disabled_why="the receiver said that it is gone (410)"
        )
        events.append(audit.Event("channel.disabled", "channel", shown, reason="answered 410 Gone"))
    audit.append(system(channel.tenant_id, "alerts.delivery"), events, now)

"""Where alerts are told, and by which rules they are raised: changed by admins, audited, secrets shown once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from memgov import clock
from memgov.ids import new_id
from memory.clients import webhooks
from memory.domain.alerting import TELL, Rule
from memory.domain.health import METRICS
from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.models import AlertChannel, AlertDelivery, AlertRule
from memory.selectors.alert_rules import rule_of
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.store import alert_channels, alerts, audit
from tenants.context import tenant_context
from tenants.principals import Principal

EMAIL, WEBHOOK = "email", "webhook"
LEAST: Final = ("warning", "critical")
_MOST_CHANNELS: Final = 20
_LONGEST_QUIET: Final = 60 * 24 * 30


@denials_audited
def channel_add(
    actor: Principal, kind: str, address: str, least: str = "warning"
) -> tuple[AlertChannel, str]:
    """Tell alerts to an address; the channel, and for a webhook its secret, which is not shown again.

    Raises `Invalid` for an address that cannot or may not be told, `Conflict` for one that is told already.
    """
    require_role(actor, ADMINS, "set where alerts are told")
    address = address.strip()
    if kind not in (EMAIL, WEBHOOK) or least not in LEAST:
        raise Invalid("choose e-mail or webhook, and from which severity on", field="kind")
    _addressable(kind, address)
    now, secret = clock.now(), webhooks.new_secret() if kind == WEBHOOK else ""
    with tenant_context(actor.tenant_id):
        if AlertChannel.objects.count() >= _MOST_CHANNELS:
            raise Conflict(f"there are {_MOST_CHANNELS} channels already; remove one first", code="too_many")
        channel = AlertChannel(
            id=new_id(now), kind=kind, address=address, least=least, created_by=actor.name, created_at=now
        )
        if not alert_channels.insert(channel, secret or None):
            raise Conflict("this address is told already; nothing was added", code="exists")
        # Where a webhook lives may be a secret itself: the chain, which nothing leaves, holds only the host.
        shown = host_of(channel) if kind == WEBHOOK else address
        _note(actor, "channel.added", channel, after={"kind": kind, "to": shown, "least": least})
    return channel, secret


def host_of(channel: AlertChannel) -> str:
    """The host of a webhook's address."""
    return webhooks.host_of(channel.address)


def _addressable(kind: str, address: str) -> None:
    if kind == EMAIL:
        try:
            validate_email(address)
        except ValidationError:
            raise Invalid("this is no e-mail address", field="address") from None
        return
    if len(address) > 500:
        raise Invalid("the address is longer than 500 characters", field="address")
    try:
        webhooks.located(address)
    except webhooks.AddressRefused as error:
        raise Invalid(str(error), code="address_refused", field="address") from None
    except webhooks.NotDelivered as error:
        raise Invalid(f"{error}; nothing was saved", code="address_unknown", field="address") from None


@denials_audited
def channel_remove(actor: Principal, channel_id: UUID) -> None:
    """Tell an address no more; its messages go with it."""
    require_role(actor, ADMINS, "set where alerts are told")
    with tenant_context(actor.tenant_id):
        channel = _locked(channel_id)
        alert_channels.remove(channel)
        _note(actor, "channel.removed", channel)


@denials_audited
def channel_switch(actor: Principal, channel_id: UUID, *, on: bool) -> AlertChannel:
    """Pause a channel, or let it be told again."""
    require_role(actor, ADMINS, "set where alerts are told")
    with tenant_context(actor.tenant_id):
        channel = _locked(channel_id)
        if on == (channel.disabled_at is None):
            raise Conflict("it is so already; nothing was changed", code="already_decided")
        why = "" if on else f"paused by {actor.name}"
        alert_channels.update(channel, disabled_at=None if on else clock.now(), disabled_why=why)
        _note(actor, "channel.enabled" if on else "channel.disabled", channel)
    return channel


@denials_audited
def channel_test(actor: Principal, channel_id: UUID) -> AlertDelivery:
    """Write a test message to a channel; the delivery to follow.  Send it with `alert_delivery`."""
    require_role(actor, ADMINS, "test where alerts are told")
    with tenant_context(actor.tenant_id):
        channel = _locked(channel_id)
        delivery = alerts.tell_test(channel, clock.now(), actor.name)
        _note(actor, "channel.tested", channel)
    return delivery


@denials_audited
def delivery_resend(actor: Principal, delivery_id: UUID) -> None:
    """Send a message that was given up once more, with all of its attempts."""
    require_role(actor, ADMINS, "send messages again")
    with tenant_context(actor.tenant_id):
        delivery = AlertDelivery.objects.filter(id=delivery_id).first()
        if delivery is None:
            raise NotFound("there is no such message")
        if not alert_channels.again(delivery_id, clock.now()):
            raise Conflict("the message was not given up; nothing was changed", code="already_decided")
        channel = AlertChannel.objects.get(id=delivery.channel_id)
        _note(actor, "alert.resent", channel, after={"message": delivery.body["id"]})


@denials_audited
def rule_set(actor: Principal, metric: str, scope: str, rule: Rule) -> None:
    """Set thresholds, hysteresis and quiet time of a metric, for the whole tenant ("") or one scope.

    Raises `Invalid`, naming the field.
    """
    require_role(actor, ADMINS, "set thresholds")
    _sensible(metric, rule)
    if scope:
        try:
            scope = str(parse_scope(scope))
        except ValueError as error:
            raise Invalid(str(error), field="scope") from None
    with tenant_context(actor.tenant_id):
        before = AlertRule.objects.filter(metric=metric, scope=scope).first()
        alert_channels.rule_upsert(metric, scope, rule, actor.name, clock.now())
        _rule_note(
            actor, "threshold.set", metric, scope, asdict(rule_of(before)) if before else None, asdict(rule)
        )


@denials_audited
def rule_reset(actor: Principal, metric: str, scope: str) -> None:
    """Go back to the default of a metric and scope."""
    require_role(actor, ADMINS, "set thresholds")
    with tenant_context(actor.tenant_id):
        before = AlertRule.objects.filter(metric=metric, scope=scope).first()
        if before is None or not alert_channels.rule_remove(metric, scope):
            raise NotFound("there is no threshold of its own")
        _rule_note(actor, "threshold.reset", metric, scope, asdict(rule_of(before)), None)


def _sensible(metric_name: str, rule: Rule) -> None:
    metric = METRICS.get(metric_name)
    if metric is None or metric.better == "neither":
        raise Invalid("choose a metric that can be too high or too low", field="metric")
    for name in ("watch", "breach"):
        value = getattr(rule, name)
        if value is not None and not (math.isfinite(value) and 0 <= value <= 1e9):
            raise Invalid("a threshold is a number from 0 up", field=name)
        if value is not None and metric.unit == "share" and value > 1:
            raise Invalid("a share is at most 100 %", field=name)
    if rule.tell not in TELL:
        raise Invalid("choose when it is told", field="tell")
    if rule.tell == "breach" and rule.breach is None:
        raise Invalid("to be told of a breach, say where it begins", field="breach")
    if rule.tell == "watch" and rule.watch is None:
        raise Invalid("to be told from watch on, say where it begins", field="watch")
    if rule.watch is not None and rule.breach is not None:
        wrong = rule.watch > rule.breach if metric.better == "lower" else rule.watch < rule.breach
        if wrong:
            raise Invalid("watch comes before breach; the two are the wrong way round", field="watch")
    if not 0 <= rule.slack <= 0.5:
        raise Invalid("hysteresis is between 0 and 50 %", field="slack")
    if not 0 <= rule.quiet_minutes <= _LONGEST_QUIET:
        raise Invalid("the quiet time is at most 30 days", field="quiet_minutes")


def _locked(channel_id: UUID) -> AlertChannel:
    channel = alert_channels.lock(channel_id)
    if channel is None:
        raise NotFound("there is no such channel")
    return channel


def _note(
    actor: Principal, action: str, channel: AlertChannel, after: Mapping[str, Any] | None = None
) -> None:
    event = audit.Event(action, "channel", show_id("chn", channel.id), after=after)
    audit.append(actor, [event], clock.now())


def _rule_note(
    actor: Principal, action: str, metric: str, scope: str, before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> None:  # fmt: skip
    event = audit.Event(action, "metric", metric, scope=scope, before=before, after=after)
    audit.append(actor, [event], clock.now())

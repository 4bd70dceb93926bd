"""What a person should look at, by which rule it is noticed, and to whom it is told."""

from __future__ import annotations

from django.db import models

from memgov import clock
from tenants.models import TenantModel


class Alert(TenantModel):
    """One occasion; while it is open, more of the same only counts up.  `target` is what it is about, as text.

    A state that goes on (a metric beyond its threshold, a stopped worker) stands until `ended_at`, acknowledged or
    not.  What just happened (a burst) has no end but being acknowledged.
    """

    kind = models.CharField(max_length=40)
    severity = models.CharField(max_length=10)
    scope = models.CharField(max_length=200, blank=True)
    target = models.CharField(max_length=300)
    message = models.CharField(max_length=500)
    evidence = models.JSONField(default=dict)
    count = models.IntegerField(default=1)
    opened_at = models.DateTimeField(default=clock.now)
    last_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "target"],
                condition=models.Q(acknowledged_at=None, ended_at=None),
                name="one_open_alert",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "-opened_at"], name="alerts_by_time"),
            models.Index(fields=["tenant", "kind", "target", "-opened_at"], name="alerts_by_target"),
        ]


class AlertRule(TenantModel):
    """When a metric of a scope ("" is the whole tenant) raises an alert, where that differs from the default."""

    metric = models.CharField(max_length=40)
    scope = models.CharField(max_length=200, blank=True)
    watch = models.FloatField(null=True)
    breach = models.FloatField(null=True)
    tell = models.CharField(max_length=10)
    slack = models.FloatField()
    quiet_minutes = models.IntegerField()
    updated_by = models.CharField(max_length=200)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "metric", "scope"], name="one_alert_rule"),
        ]


class AlertChannel(TenantModel):
    """Where alerts are told: a mailbox, or a webhook with its secret (encrypted)."""

    kind = models.CharField(max_length=10)
    address = models.CharField(max_length=500)
    secret = models.BinaryField(null=True)
    least = models.CharField(max_length=10, default="warning")
    disabled_at = models.DateTimeField(null=True)
    disabled_why = models.CharField(max_length=200, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind", "address"], name="one_alert_channel"),
        ]


class AlertDelivery(TenantModel):
    """One message to one channel: written with what it tells, sent after the commit, tried again until it arrives or
    is given up.  `id` is the message's own, so that a receiver can tell a repetition."""

    WAITING, SENT, DEAD = "waiting", "sent", "dead"

    channel_id = models.UUIDField()
    alert_id = models.UUIDField(null=True)
    event = models.CharField(max_length=20)
    body = models.JSONField()
    status = models.CharField(max_length=10, default=WAITING)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(default=clock.now)
    answer = models.IntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    done_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["tenant", "next_at"], condition=models.Q(status="waiting"), name="deliveries_due"
            ),
            models.Index(fields=["tenant", "status", "-created_at"], name="deliveries_by_status"),
        ]

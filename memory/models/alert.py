"""What a person should look at: something that went over a limit, until somebody says that they have seen it."""

from __future__ import annotations

from django.db import models

from memgov import clock
from tenants.models import TenantModel


class Alert(TenantModel):
    """One occasion; while it is open, more of the same only counts up.  `target` is what it is about, as text."""

    kind = models.CharField(max_length=40)
    severity = models.CharField(max_length=10)
    scope = models.CharField(max_length=200, blank=True)
    target = models.CharField(max_length=200)
    message = models.CharField(max_length=500)
    evidence = models.JSONField(default=dict)
    count = models.IntegerField(default=1)
    opened_at = models.DateTimeField(default=clock.now)
    last_at = models.DateTimeField(default=clock.now)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "target"],
                condition=models.Q(acknowledged_at=None),
                name="one_open_alert",
            )
        ]
        indexes = [models.Index(fields=["tenant", "-opened_at"], name="alerts_by_time")]

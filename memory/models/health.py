"""Health over time: one row of figures per tenant, scope and period."""

from __future__ import annotations

from django.db import models

from tenants.models import TenantModel


class HealthSnapshot(TenantModel):
    """The figures of one period.  An empty scope is the whole tenant; a missing figure is missing, not 0."""

    scope = models.CharField(max_length=200, blank=True)
    period = models.DateTimeField()
    figures = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "scope", "period"], name="one_snapshot")]

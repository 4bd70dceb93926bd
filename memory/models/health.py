"""Health over time: figures per tenant, scope and period; and the sample that reviewers judge."""

from __future__ import annotations

from django.db import models

from memgov import clock
from tenants.models import TenantModel


class HealthSnapshot(TenantModel):
    """The figures of one period.  An empty scope is the whole tenant; a missing figure is missing, not 0.

    An `hour` is what was measured in it.  A `day` is what became of its hours when they were folded: the figures
    of the last one, and in `spread` the lowest and the highest of each.
    """

    HOUR, DAY = "hour", "day"

    scope = models.CharField(max_length=200, blank=True)
    span = models.CharField(max_length=4, default=HOUR)
    period = models.DateTimeField()
    figures = models.JSONField()
    spread = models.JSONField(default=dict)
    hours = models.IntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "scope", "span", "period"], name="one_snapshot")
        ]
        indexes = [models.Index(fields=["tenant", "span", "period"], name="snapshots_by_period")]


class HealthSample(TenantModel):
    """A random draw of readable memories, one per period, for reviewers to judge."""

    period = models.DateField()
    population = models.IntegerField()
    size = models.IntegerField()
    drawn_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "period"], name="one_sample")]


class SampleItem(TenantModel):
    """One drawn memory at the version it had, and what a reviewer thinks of it: `verdict` is empty, `right`,
    `wrong` or `unsure`."""

    sample_id = models.UUIDField()
    place = models.IntegerField()
    memory_id = models.UUIDField()
    memory_version = models.IntegerField()
    scope = models.CharField(max_length=200)
    verdict = models.CharField(max_length=10, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    judged_by = models.CharField(max_length=200, blank=True)
    judged_by_id = models.CharField(max_length=100, blank=True)
    judged_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "sample_id", "place"], name="one_sample_place")
        ]
        indexes = [models.Index(fields=["tenant", "judged_at"], name="sample_by_judged")]

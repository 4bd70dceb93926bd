"""Working memory: the tasks and sessions of agents, and the values that a task keeps for itself."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from memgov import clock
from tenants.models import TenantModel


class WorkRun(TenantModel):
    """A task or session of one agent, from its first use until it is ended.

    The row is what writers of the task share and its end takes alone, so that nothing is written behind the
    back of a rollback.  `result` is the answer of the end, `undo` what taking it back needs.
    """

    kind = models.CharField(max_length=10)
    name = models.CharField(max_length=200)
    agent_id = models.UUIDField()
    agent_name = models.CharField(max_length=200)
    status = models.CharField(max_length=20, default="open")
    opened_at = models.DateTimeField(default=clock.now)
    active_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    result = models.JSONField(default=dict)
    undo = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agent_id", "kind", "name"], name="one_work_run")
        ]
        indexes = [models.Index(fields=["tenant", "status", "active_at"], name="runs_by_activity")]


class WorkingValue(TenantModel):
    """What a task keeps under a key for a while.  `removed_at`: taken away with its task, for an undo."""

    task = models.CharField(max_length=200)
    key = models.CharField(max_length=300)
    value = models.JSONField(null=True)
    size = models.IntegerField()
    succeeded = models.BooleanField(null=True)
    summary = models.TextField(blank=True)
    importance = models.FloatField(null=True)
    origin = models.CharField(max_length=20)
    trust = models.FloatField()
    confidence = models.FloatField()
    session = models.CharField(max_length=300, blank=True)
    tool = models.CharField(max_length=300, blank=True)
    agent_id = models.UUIDField()
    agent_name = models.CharField(max_length=200)
    status = models.CharField(max_length=20)
    findings = models.JSONField(default=list)
    version = models.IntegerField(default=1)
    recorded_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "agent_id", "task", "key"],
                condition=Q(removed_at=None),
                name="one_working_key",
            )
        ]
        indexes = [models.Index(fields=["tenant", "expires_at"], name="working_by_expiry")]

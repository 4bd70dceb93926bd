"""What became of each candidate: one row per write, also for those that were refused."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from memgov import clock
from tenants.models import TenantModel


class WriteDecision(TenantModel):
    """An outcome with its reason.  ``text`` is empty where the candidate held a secret."""

    at = models.DateTimeField(default=clock.now)
    agent_id = models.UUIDField(null=True)
    agent_name = models.CharField(max_length=200)
    session = models.CharField(max_length=300, blank=True)
    scope = models.CharField(max_length=200)
    origin = models.CharField(max_length=20)
    outcome = models.CharField(max_length=20)
    reason = models.CharField(max_length=40, blank=True)
    rule = models.CharField(max_length=100, blank=True)
    text = models.TextField(blank=True)
    memory_id = models.UUIDField(null=True)
    findings = models.JSONField(default=list)
    policy_version = models.IntegerField()
    # Of writes that name a task: what the write changed beside its own row, so that the task can be rolled back.
    task = models.CharField(max_length=300, blank=True)
    undo = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at"], name="decision_by_time"),
            models.Index(fields=["tenant", "agent_id", "-at"], name="decision_by_agent"),
            models.Index(fields=["tenant", "memory_id"], name="decision_by_memory"),
            models.Index(
                fields=["tenant", "agent_id", "task"], condition=~Q(task=""), name="decision_by_task"
            ),
        ]

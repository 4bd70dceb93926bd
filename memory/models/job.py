"""Work that is followed: asynchronous jobs, sweep runs, and answers kept for repeated requests."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from memgov import clock
from tenants.models import TenantModel


class Job(TenantModel):
    """An asynchronous piece of work with its progress."""

    kind = models.CharField(max_length=40)
    status = models.CharField(max_length=20, default="queued")
    agent_id = models.UUIDField(null=True)
    key_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=200)
    # What is to be done, encrypted: it has not been cleaned yet.  Gone when the job has ended.
    request = models.BinaryField(null=True)
    total = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    # How often a worker began since work was last done that stays done.
    takes = models.IntegerField(default=0)
    result = models.JSONField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    # The last sign of whoever works on it.
    touched_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "status", "touched_at"], name="jobs_by_status"),
            models.Index(fields=["tenant", "kind", "-created_at"], name="jobs_by_kind"),
        ]


class SweepRun(TenantModel):
    """One run of a sweep: what it looked at and what it changed."""

    name = models.CharField(max_length=40)
    status = models.CharField(max_length=20, default="running")
    dry_run = models.BooleanField(default=False)
    started_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)
    scanned = models.IntegerField(default=0)
    changed = models.IntegerField(default=0)
    skipped = models.IntegerField(default=0)
    policy_version = models.IntegerField(default=0)
    note = models.CharField(max_length=500, blank=True)
    # What a person may have to decide, and what became of it: scopes that were held, who let them go, what was undone.
    details = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["tenant", "name", "-started_at"], name="runs_by_name")]


class IdempotencyKey(TenantModel):
    """The answer given to a request that carried an idempotency key."""

    key_id = models.UUIDField()
    key = models.CharField(max_length=200)
    body_hash = models.BinaryField(max_length=32)
    status = models.IntegerField(null=True)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "key_id", "key"], name="one_idempotency_key"),
            models.CheckConstraint(condition=~Q(key=""), name="idempotency_key_given"),
        ]

"""What agents were given: injection manifests and their entries.

Ids are time-ordered, so both tables can be split by time on the id when they grow.
"""

from __future__ import annotations

from django.db import models

from memgov import clock
from tenants.models import TenantModel


class Manifest(TenantModel):
    """One answered read: who asked, under which policy, what was left out and why, and the text's digest."""

    kind = models.CharField(max_length=20)
    at = models.DateTimeField(default=clock.now)
    agent_id = models.UUIDField(null=True)
    agent_name = models.CharField(max_length=200)
    agent_role = models.CharField(max_length=50)
    session = models.CharField(max_length=300, blank=True)
    task = models.CharField(max_length=300, blank=True)
    query_hash = models.CharField(max_length=64, blank=True)
    query_text = models.TextField(blank=True)
    request = models.JSONField(default=dict)
    excluded = models.JSONField(default=dict)
    # The working values that were given, with their texts: they keep no revisions of their own.
    working = models.JSONField(default=list)
    policy_version = models.IntegerField()
    block_digest = models.CharField(max_length=64)
    entry_count = models.IntegerField(default=0)
    tokens = models.IntegerField(default=0)
    usage_reported_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at"], name="manifest_by_time"),
            models.Index(fields=["tenant", "session"], name="manifest_by_session"),
        ]


class ManifestEntry(TenantModel):
    """One entry that was injected, at the version it had."""

    manifest_id = models.UUIDField()
    rank = models.IntegerField()
    memory_id = models.UUIDField()
    version = models.IntegerField()
    scope = models.CharField(max_length=200)
    band = models.CharField(max_length=20)
    channel = models.CharField(max_length=20)
    score = models.FloatField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "manifest_id", "rank"], name="one_manifest_rank")
        ]
        indexes = [models.Index(fields=["tenant", "memory_id"], name="entry_by_memory")]

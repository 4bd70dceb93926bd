"""What agents were given: injection manifests and their entries.

Both tables are split by month along the manifest's time-ordered id, so that a month whose time is over is dropped
whole (`memory.store.months`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from memgov import clock
from tenants.managers import TenantManager
from tenants.models import Tenant, TenantModel


class Manifest(TenantModel):
    """One answered read: who asked, under which policy, what was left out and why, and the text's digest.

    `id` is made for `at`: the month of a row is that of its id.
    """

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
    # By reason, the ids that were left out: only where policy has them recorded.
    excluded_ids = models.JSONField(default=dict)
    # The working values that were given, with their texts: they keep no revisions of their own.
    working = models.JSONField(default=list)
    policy_version = models.IntegerField()
    block_format = models.CharField(max_length=20, default="xml")
    block_digest = models.CharField(max_length=64)
    entry_count = models.IntegerField(default=0)
    tokens = models.IntegerField(default=0)
    usage_reported_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["tenant", "session", "id"],
                condition=~models.Q(session=""),
                name="manifests_of_session",
            ),
            models.Index(fields=["tenant", "agent_id", "id"], name="manifests_of_agent"),
        ]


class ManifestEntry(models.Model):
    """One entry that was injected, at the version it had, with everything that its text was made of except the
    content: that stands in the version's revision, so that an erasure takes it from here as well."""

    pk = models.CompositePrimaryKey("tenant_id", "manifest_id", "rank")
    # Held by the key of its manifest; a second check for each entry would be paid at every read.
    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    manifest_id = models.UUIDField()
    rank = models.IntegerField()
    memory_id = models.UUIDField()
    version = models.IntegerField()
    scope = models.CharField(max_length=200)
    band = models.CharField(max_length=20)
    channel = models.CharField(max_length=20)
    score = models.FloatField()
    # What the score is the sum of.
    scores = models.JSONField(default=dict)
    source = models.TextField(blank=True)
    trust = models.FloatField(default=0.0)
    recorded_at = models.DateTimeField(null=True)
    learned_at = models.DateTimeField(null=True)
    # The rank where the contested values start that it was shown with.
    rivals_from = models.IntegerField(null=True)
    # What the agent reported: used, ignored, harmful, or nothing yet.
    verdict = models.CharField(max_length=10, blank=True)
    used_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField(null=True)

    objects: ClassVar[TenantManager[Any]] = TenantManager()

    class Meta:
        indexes = [models.Index(fields=["tenant", "memory_id", "manifest_id"], name="entries_of_memory")]

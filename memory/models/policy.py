"""The policy documents of a tenant, one row per version."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from memgov import clock
from tenants.models import TenantModel


class PolicyVersion(TenantModel):
    """One version; exactly one of a tenant's is active."""

    number = models.IntegerField()
    document = models.JSONField()
    active = models.BooleanField(default=False)
    reason = models.CharField(max_length=500, blank=True)
    changes = models.JSONField(default=list)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=clock.now)
    activated_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="one_policy_number"),
            models.UniqueConstraint(fields=["tenant"], condition=Q(active=True), name="one_active_policy"),
        ]


class PolicyDraft(TenantModel):
    """A document that somebody prepares.  It holds only what differs from the product's default.

    Whoever saves names the version that they began with, so that nobody overwrites another's work unseen.
    """

    name = models.CharField(max_length=100)
    document = models.JSONField(default=dict)
    version = models.IntegerField(default=1)
    # The number of the policy that it was begun from.
    based_on = models.IntegerField(default=0)
    # Earlier versions, the latest last, each with who saved it and when: enough to say what changed meanwhile.
    history = models.JSONField(default=list)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=clock.now)
    updated_by = models.CharField(max_length=200)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-updated_at"], name="drafts_by_time")]

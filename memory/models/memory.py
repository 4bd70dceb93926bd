"""Memories, their revisions, their search index, and the scopes they live in."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from memgov import clock
from tenants.managers import TenantManager
from tenants.models import Tenant, TenantModel

LIVE_STATUSES = ("live", "contested")
EMBEDDING_DIMENSIONS = 384


class Memory(TenantModel):
    """One remembered thing.  `subject` and `predicate` are empty for free text.

    What must be unique is unique here, so that racing writes are settled by the database: one live value of
    a single-valued key or plain claim, and one live row of the same text, in a scope; what begins later stands beside
    what holds until then.
    """

    scope = models.CharField(max_length=200)
    layer = models.CharField(max_length=20)
    kind = models.CharField(max_length=20)
    subject = models.CharField(max_length=300, blank=True)
    predicate = models.CharField(max_length=300, blank=True)
    single_valued = models.BooleanField(default=False)
    # Of free text that states one attribute of one subject (`memory.domain.claims`): which; a digest, not words.
    claim = models.CharField(max_length=32, blank=True)
    # Only under a policy that keeps exact duplicates, such as the preset `open`.
    may_repeat = models.BooleanField(default=False)
    value = models.TextField(blank=True)
    content = models.TextField()
    value_hash = models.BinaryField(max_length=32)
    paths = ArrayField(models.TextField(), default=list)
    tags = ArrayField(models.TextField(), default=list)
    metadata = models.JSONField(default=dict)

    importance = models.FloatField()
    confidence = models.FloatField()
    trust = models.FloatField()
    origin = models.CharField(max_length=20)
    agent_id = models.UUIDField(null=True)
    agent_name = models.CharField(max_length=200, blank=True)
    key_id = models.UUIDField(null=True)
    session = models.CharField(max_length=300, blank=True)
    task = models.CharField(max_length=300, blank=True)
    tool = models.CharField(max_length=300, blank=True)
    input_hash = models.CharField(max_length=300, blank=True)
    derived_from = ArrayField(models.UUIDField(), default=list)
    # Sessions that learned the same thing on their own: who confirmed, beside who wrote.
    also_learned_in = ArrayField(models.TextField(), default=list)

    status = models.CharField(max_length=20)
    status_reason = models.CharField(max_length=500, blank=True)
    status_changed_at = models.DateTimeField(default=clock.now)
    findings = models.JSONField(default=list)
    superseded_by = models.UUIDField(null=True)
    merged_into = models.UUIDField(null=True)
    version = models.IntegerField(default=1)
    policy_version = models.IntegerField(default=0)

    recorded_at = models.DateTimeField(default=clock.now)
    learned_at = models.DateTimeField(default=clock.now)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    review_by = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    # The beginning that it waited for when it became readable (`memory.domain.validity`); none for what held at once.
    begins_at = models.DateTimeField(null=True)
    use_count = models.IntegerField(default=0)
    reproductions = models.IntegerField(default=0)

    pinned_by = models.CharField(max_length=200, blank=True)
    pin_reason = models.CharField(max_length=500, blank=True)
    pinned_at = models.DateTimeField(null=True)
    pinned_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "scope", "subject", "predicate", "claim", "begins_at"],
                condition=Q(status="live", single_valued=True),
                nulls_distinct=False,
                name="one_live_value",
            ),
            models.UniqueConstraint(
                fields=["tenant", "scope", "subject", "predicate", "value_hash", "begins_at"],
                condition=Q(status__in=LIVE_STATUSES, may_repeat=False),
                nulls_distinct=False,
                name="one_live_text",
            ),
            models.CheckConstraint(
                condition=Q(importance__range=(0, 1), confidence__range=(0, 1), trust__range=(0, 1)),
                name="weights_in_bounds",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "scope", "status"], name="memory_by_scope"),
            models.Index(fields=["tenant", "status", "expires_at"], name="memory_by_expiry"),
            models.Index(fields=["tenant", "agent_id"], name="memory_by_agent"),
            models.Index(fields=["tenant", "session"], name="memory_by_session"),
            # What was derived from something: the few rows that a search for the reach of a memory reads.
            models.Index(fields=["tenant", "id"], condition=~Q(derived_from=[]), name="derived_rows"),
            # What left the working set or is held, as people go through it; what lives is in neither.
            models.Index(
                fields=["tenant", "-status_changed_at", "-id"],
                condition=Q(status__in=["evicted", "archived", "expired", "deleted"]),
                name="memory_removed",
            ),
            models.Index(
                fields=["tenant", "status", "-status_changed_at", "-id"],
                condition=Q(status__in=["quarantined", "evicted", "archived", "expired", "deleted"]),
                name="memory_by_change",
            ),
            models.Index(fields=["tenant", "id"], condition=Q(pinned_at__isnull=False), name="memory_pinned"),
            models.Index(fields=["tenant", "scope", "claim"], condition=~Q(claim=""), name="memory_by_claim"),
            # What a write is compared with: the live rows of its key, or of its text.  Each row is in one of them.
            models.Index(
                fields=["tenant", "scope", "subject", "predicate"],
                condition=Q(status__in=LIVE_STATUSES) & ~Q(predicate=""),
                name="memory_live_key",
            ),
            models.Index(
                fields=["tenant", "scope", "value_hash"],
                condition=Q(status__in=LIVE_STATUSES, predicate=""),
                name="memory_live_text",
            ),
            # What waits for its beginning, and what has an end: few rows.
            models.Index(
                fields=["tenant", "begins_at"],
                condition=Q(status__in=LIVE_STATUSES, begins_at__isnull=False),
                name="memory_waiting",
            ),
            models.Index(
                fields=["tenant", "valid_to"],
                condition=Q(status__in=LIVE_STATUSES, valid_to__isnull=False),
                name="memory_ending",
            ),
            # Whether the same text waits already: asked for every row of an import.
            models.Index(
                fields=["tenant", "value_hash"],
                condition=Q(status__in=["candidate", "quarantined"]),
                name="memory_held_text",
            ),
        ]


class Revision(TenantModel):
    """A memory as it was at one version.  Every version is kept."""

    # Held by the key of its memory; a second check for each row would be paid by every change.
    tenant = models.ForeignKey(
        Tenant, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )

    memory_id = models.UUIDField()
    version = models.IntegerField()
    at = models.DateTimeField(default=clock.now)
    event = models.CharField(max_length=50)
    actor = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    state = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "memory_id", "version"], name="one_revision")
        ]
        indexes = [
            # A person's own decisions in the quarantine, for the start page: a few rows among very many.
            models.Index(
                fields=["tenant", "actor", "-at"],
                condition=Q(event__in=["memory.released", "memory.discarded"]),
                name="revision_of_decision",
            )
        ]


class MemoryIndex(models.Model):
    """What search needs of a live memory: terms, vector, and what filters look at.  Rows come and go with the status.

    Apart from `Memory`, because an index on a column that sweeps rewrite makes them 20 times slower.  Split
    by tenant into 16 partitions, made by the migration's own SQL.  `term_vector` is made of `terms` by the database.
    """

    pk = models.CompositePrimaryKey("tenant_id", "memory_id")
    tenant_id = models.UUIDField()
    memory_id = models.UUIDField()
    learned_at = models.DateTimeField()
    trust = models.FloatField()
    source = models.BigIntegerField()
    run = models.BigIntegerField()
    term_count = models.IntegerField()
    contested = models.BooleanField()
    narrowed = models.BooleanField()
    expires_at = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    scope = models.CharField(max_length=200)
    layer = models.CharField(max_length=20)
    kind = models.CharField(max_length=20)
    tags = ArrayField(models.TextField())
    paths = ArrayField(models.TextField())
    terms = ArrayField(models.TextField())
    embedding = HalfVectorField(dimensions=EMBEDDING_DIMENSIONS, null=True)
    model_id = models.CharField(max_length=100, blank=True)
    # Whether the vector index holds the row; the others are looked at one by one.
    settled = models.BooleanField(default=False)

    objects: ClassVar[TenantManager[Any]] = TenantManager()

    class Meta:
        managed = False
        db_table = "memory_index"


class ScopeRecord(TenantModel):
    """A scope in use.  A session or task belongs to the agent that used it first."""

    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20)
    owner_agent_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="one_scope_name")]
        indexes = [models.Index(fields=["tenant", "owner_agent_id"], name="scope_by_owner")]

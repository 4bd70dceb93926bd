"""The append-only history: events chained by hash, the head of each chain, and checkpoints of the head."""

from __future__ import annotations

import pgtrigger
from django.db import models

from memgov import clock
from tenants.models import TenantModel


class AuditEvent(TenantModel):
    """Something that happened.  Holds keyed digests of texts, never a text.

    ``hash`` covers the hash of the event before and every other column (`memory.domain.audit_chain`).  The
    database refuses to change or remove a row.
    """

    seq = models.BigIntegerField()
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=200)
    action = models.CharField(max_length=60)
    target_kind = models.CharField(max_length=30)
    target_id = models.CharField(max_length=100)
    scope = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    policy_version = models.IntegerField(null=True)
    request_id = models.CharField(max_length=64, blank=True)
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "seq"], name="one_audit_seq")]
        indexes = [
            models.Index(fields=["tenant", "target_id"], name="audit_by_target"),
            models.Index(fields=["tenant", "actor_id", "-seq"], name="audit_by_actor"),
            models.Index(fields=["tenant", "action", "-seq"], name="audit_by_action"),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]


class AuditHead(TenantModel):
    """The end of a tenant's chain; locking this row is what puts events into one order."""

    seq = models.BigIntegerField(default=0)
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_audit_head")]


class AuditCheckpoint(TenantModel):
    """A head as a verification saw it.  Also appended to a file outside the database, or a cut tail could
    be hidden by whoever can write tables."""

    seq = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)
    at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["tenant", "-seq"], name="checkpoint_by_seq")]

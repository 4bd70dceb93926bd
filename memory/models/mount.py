"""What mount manifests declare.  The file is kept nowhere: its hash and commit say which it was."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memgov import clock
from tenants.models import TenantModel


class Mount(TenantModel):
    """The file that is applied under a name."""

    name = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    commit = models.CharField(max_length=64, blank=True)
    scopes = ArrayField(models.TextField(), default=list)
    entry_count = models.IntegerField(default=0)
    # Rises each time the file or its entries changed.
    revision = models.IntegerField(default=1)
    applied_at = models.DateTimeField(default=clock.now)
    applied_by = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="one_mount_name")]


class MountEntry(TenantModel):
    """One memory that a mount declares, where it applies and in which order."""

    mount_id = models.UUIDField()
    memory_id = models.UUIDField()
    place = models.IntegerField()
    sort_order = models.IntegerField(default=0)
    line = models.IntegerField()
    paths = ArrayField(models.TextField(), default=list)
    tags = ArrayField(models.TextField(), default=list)
    # Of an entry by content: a keyed digest of what the file says, by which it is known again; else empty.
    said = models.CharField(max_length=64, blank=True)
    # The mount brought the memory into being, and takes it away with the entry.
    made = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "mount_id", "memory_id"], name="one_mounted")
        ]
        indexes = [models.Index(fields=["tenant", "memory_id"], name="mounted_by_memory")]


class MountHead(TenantModel):
    """One row per tenant that has mounts: who holds it applies, and a reader learns whether there are any."""

    revision = models.IntegerField(default=0)
    entries = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_mount_head")]

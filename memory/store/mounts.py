"""Writing mounts.  Whoever applies a file holds the tenant's head row until the transaction ends."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.models import Sum

from memgov.ids import new_id
from memory.models import Mount, MountEntry, MountHead
from tenants.context import current_tenant_id

_HOLD = """
INSERT INTO memory_mounthead AS h (tenant_id, id, revision, entries) VALUES (%s, %s, 0, 0)
ON CONFLICT (tenant_id) DO UPDATE SET revision = h.revision
"""


def hold() -> None:
    """Let one apply at a time through.  Call first."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [current_tenant_id(), new_id()])


def put(mount: Mount, entries: Sequence[MountEntry] | None) -> None:
    """Store the mount as it now is, and unless None its entries in place of those that it had.  Under `hold`."""
    mount.tenant_id = current_tenant_id()
    fields = ("sha256", "commit", "scopes", "entry_count", "revision", "applied_at", "applied_by")
    if not Mount.objects.filter(id=mount.id).update(**{name: getattr(mount, name) for name in fields}):
        Mount.objects.bulk_create([mount])
    if entries is None:
        return
    MountEntry.objects.filter(mount_id=mount.id).delete()
    for entry in entries:
        entry.tenant_id, entry.mount_id = mount.tenant_id, mount.id
    MountEntry.objects.bulk_create(entries)
    total = Mount.objects.aggregate(total=Sum("entry_count"))["total"] or 0
    MountHead.objects.update(revision=_next_revision(), entries=total)


def _next_revision() -> int:
    return int(MountHead.objects.values_list("revision", flat=True).get()) + 1


def inherit(entry: MountEntry) -> None:
    """Let another mount that declares the memory as well take it over: it is the one that takes it away then."""
    MountEntry.objects.filter(id=entry.id).update(made=True)

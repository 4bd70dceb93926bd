"""Writing injection manifests and the usage that agents report on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from memory.models import Manifest, ManifestEntry
from tenants.context import current_tenant_id


def insert(manifest: Manifest, entries: Sequence[ManifestEntry]) -> None:
    """Store a manifest with its entries."""
    manifest.tenant_id = current_tenant_id()
    manifest.entry_count = len(entries)
    Manifest.objects.bulk_create([manifest])
    for entry in entries:
        entry.tenant_id, entry.manifest_id = manifest.tenant_id, manifest.id
    ManifestEntry.objects.bulk_create(entries)


def mark_used(manifest: Manifest, memory_ids: Collection[UUID], now: datetime) -> list[UUID]:
    """Mark entries as used; the ids that were not marked before (a repeated report marks none)."""
    fresh = list(
        ManifestEntry.objects.select_for_update()
        .filter(manifest_id=manifest.id, memory_id__in=list(memory_ids), used_at=None)
        .order_by("memory_id")
        .values_list("memory_id", flat=True)
    )
    ManifestEntry.objects.filter(manifest_id=manifest.id, memory_id__in=fresh).update(used_at=now)
    if manifest.usage_reported_at is None:
        Manifest.objects.filter(id=manifest.id, usage_reported_at=None).update(usage_reported_at=now)
    return fresh

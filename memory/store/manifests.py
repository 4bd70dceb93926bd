"""Writing injection manifests and what agents report on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection

from memgov.ids import floor_id
from memgov.json_text import json_text
from memgov.postgres.prepared import Prepared
from memory.models import Manifest, ManifestEntry
from memory.store.rows import row_json
from tenants.context import current_tenant_id, with_commit

USED, IGNORED, HARMFUL = "used", "ignored", "harmful"
# A later report may say more, never less: what was used once was used.
_WEIGHT: Final = {"": 0, IGNORED: 1, USED: 2, HARMFUL: 3}

# The columns of an entry that differ from entry to entry, with their types.
_EACH: Final = {
    "rank": "int", "memory_id": "uuid", "version": "int", "scope": "text", "band": "text", "channel": "text",
    "score": "float8", "scores": "jsonb", "source": "text", "trust": "float8", "recorded_at": "timestamptz",
    "learned_at": "timestamptz", "rivals_from": "int",
}  # fmt: skip

# Manifest and entries in one statement, each as one value: this is part of every read, and round trips and the sending
# of many values would be its largest part.  See docs/decisions/0014 for the commit.
_INSERT: Final = Prepared(
    "manifest_insert",
    f"""
WITH made AS (
    INSERT INTO memory_manifest
    SELECT m.* FROM json_populate_record(NULL::memory_manifest, $1) m, set_config('synchronous_commit', $2, true)
)
INSERT INTO memory_manifestentry (tenant_id, manifest_id, verdict, {", ".join(_EACH)})
SELECT $3::uuid, $4::uuid, '', e.*
  FROM jsonb_to_recordset($5) AS e({", ".join(f"{name} {kind}" for name, kind in _EACH.items())})
""",
)


def insert(manifest: Manifest, entries: Sequence[Mapping[str, Any]]) -> None:
    """Store a manifest with its entries (their columns by name) in one message with the COMMIT.

    The read's transaction writes nothing else: unless `MEMGOV_DURABLE_READS` says so, it does not wait for the disk.
    """
    manifest.tenant_id = current_tenant_id()
    manifest.entry_count = len(entries)
    commit = "on" if settings.MEMGOV_DURABLE_READS else "off"
    rows = [row_json(manifest), commit, manifest.tenant_id, manifest.id, json_text(entries)]
    with_commit(*_INSERT(rows))


def mark(manifest: Manifest, verdicts: Mapping[UUID, str], now: datetime) -> dict[UUID, str]:
    """Note what the agent says of entries; those of which it says more than before, with what it said then.

    The same report again changes nothing.
    """
    rows = ManifestEntry.objects.select_for_update().filter(
        manifest_id=manifest.id, memory_id__in=list(verdicts)
    )
    known = list(rows.order_by("rank").values_list("rank", "memory_id", "verdict"))
    moved = {memory: was for _, memory, was in known if _WEIGHT[verdicts[memory]] > _WEIGHT[was]}
    for verdict in {verdicts[memory] for memory in moved}:
        ranks = [rank for rank, memory, _ in known if memory in moved and verdicts[memory] == verdict]
        used = {"used_at": now} if verdict == USED else {}
        ManifestEntry.objects.filter(manifest_id=manifest.id, rank__in=ranks).update(
            verdict=verdict, reported_at=now, **used
        )
    if manifest.usage_reported_at is None:
        Manifest.objects.filter(id=manifest.id, usage_reported_at=None).update(usage_reported_at=now)
    return moved


_DROP: Final = """
DELETE FROM memory_manifest WHERE tenant_id = %(tenant)s AND id IN (
    SELECT id FROM memory_manifest WHERE tenant_id = %(tenant)s AND id < %(end)s
     ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""


def drop_before(end: datetime, most: int) -> int:
    """Delete at most `most` manifests that are older, with their entries; with 0 only count them."""
    if not most:
        return Manifest.objects.filter(id__lt=floor_id(end)).count()
    with connection.cursor() as cursor:
        cursor.execute(_DROP, {"tenant": current_tenant_id(), "end": floor_id(end), "most": most})
        return cursor.rowcount

"""Rows that a preview of a policy looks at: stored entries in slices, past writes with what they met, past reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memory.domain.vectors import vector_text
from memory.models import Manifest, ManifestEntry, Memory, Revision, WriteDecision
from memory.models.memory import LIVE_STATUSES
from tenants.context import current_tenant_id
from tenants.models import Agent, Grant

SLICE: Final = 2000
_NEEDED: Final = (
    "tenant_id", "id", "scope", "layer", "kind", "subject", "predicate", "value", "content", "value_hash", "paths",
    "tags", "importance", "confidence", "trust", "origin", "agent_id", "session", "task", "tool", "status", "findings",
    "version", "recorded_at", "learned_at", "expires_at", "review_by", "valid_from", "valid_to", "use_count",
    "reproductions", "pinned_at", "pinned_until", "superseded_by", "merged_into", "input_hash", "derived_from",
    "metadata",
)  # fmt: skip
# To read and to build a row is most of what an entry costs, so that nothing is read that is not looked at.
_WITHOUT_TEXTS: Final = (
    "tenant_id", "id", "scope", "kind", "predicate", "learned_at", "confidence", "trust", "use_count", "reproductions",
    "pinned_at", "pinned_until",
)  # fmt: skip


def readable_count(now: datetime) -> int:
    """How many entries a reader could get now."""
    return Memory.objects.filter(_unexpired(now), status__in=LIVE_STATUSES).count()


def readable_slice(after: UUID | None, now: datetime, *, texts: bool) -> list[Memory]:
    """The next readable entries in the order of their ids; `texts` false leaves out what they say."""
    rows = Memory.objects.filter(_unexpired(now), status__in=LIVE_STATUSES).order_by("id")
    rows = rows.only(*(_NEEDED if texts else _WITHOUT_TEXTS))
    return list((rows.filter(id__gt=after) if after else rows)[:SLICE])


def _unexpired(now: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=now)


def restored_among(ids: Collection[UUID]) -> set[UUID]:
    """Which of these somebody brought back at some time."""
    if not ids:
        return set()
    rows = Revision.objects.filter(memory_id__in=list(ids), event="memory.restored")
    return set(rows.values_list("memory_id", flat=True))


def nearness(ids: Collection[UUID], vector: Sequence[float], model: str) -> dict[UUID, float]:
    """The cosine of entries to one vector of the same model."""
    sql = """SELECT i.memory_id, 1 - (i.embedding <=> %s::halfvec) FROM memory_index i
              WHERE i.tenant_id = %s AND i.memory_id = ANY(%s) AND i.model_id = %s AND i.embedding IS NOT NULL"""
    with connection.cursor() as cursor:
        cursor.execute(sql, [vector_text(vector), current_tenant_id(), list(ids), model])
        return dict(cursor.fetchall())


def same_text_groups(now: datetime) -> Iterator[tuple[UUID, int]]:
    """Entries of one scope that say exactly the same: the first of each group, and how many there are."""
    sql = """SELECT min(m.id::text)::uuid, count(*) FROM memory_memory m
              WHERE m.tenant_id = %s AND m.status IN ('live', 'contested')
                AND (m.expires_at IS NULL OR m.expires_at > %s)
              GROUP BY m.scope, m.subject, m.predicate, m.value_hash HAVING count(*) > 1 ORDER BY 1"""
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, [current_tenant_id(), now])
        while rows := cursor.fetchmany(SLICE):
            yield from rows


def last_decisions(most: int, until: datetime) -> list[WriteDecision]:
    """The last writes, the earliest first."""
    rows = WriteDecision.objects.filter(at__lte=until).order_by("-at", "-id")[:most]
    return list(reversed(rows))


def memories_of(ids: Collection[UUID]) -> dict[UUID, Memory]:
    """The entries by their ids, in whatever state."""
    rows = Memory.objects.filter(id__in=list(ids)).only(*_NEEDED)
    return {row.id: row for row in rows}


def first_states(ids: Collection[UUID]) -> dict[UUID, Mapping[str, Any]]:
    """What each entry was when it was written."""
    rows = Revision.objects.filter(memory_id__in=list(ids), version=1)
    return dict(rows.values_list("memory_id", "state"))


def last_reads(kind: str, most: int, until: datetime) -> list[Manifest]:
    """The last manifests of a kind, the latest first."""
    return list(Manifest.objects.filter(kind=kind, at__lte=until).order_by("-id")[:most])


def used_in(manifest_ids: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """By manifest, the entries that its reader reported as used."""
    found: dict[UUID, set[UUID]] = {}
    rows = ManifestEntry.objects.filter(manifest_id__in=list(manifest_ids), verdict="used")
    for manifest_id, memory_id in rows.values_list("manifest_id", "memory_id"):
        found.setdefault(manifest_id, set()).add(memory_id)
    return found


def agent_grants(agent_ids: Collection[UUID]) -> dict[UUID, tuple[Agent, list[tuple[str, tuple[str, ...]]]]]:
    """Agents with the grants that they hold now, of their own and by their role."""
    agents = list(Agent.objects.filter(id__in=list(agent_ids)))
    roles = {one.role for one in agents}
    grants = list(
        Grant.objects.filter(Q(agent_id__in=list(agent_ids)) | Q(agent_role__in=roles)).order_by("id")
    )
    return {
        one.id: (
            one,
            [(g.pattern, tuple(g.verbs)) for g in grants if g.agent_id == one.id or g.agent_role == one.role],
        )
        for one in agents
    }

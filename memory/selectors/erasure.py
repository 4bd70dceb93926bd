"""What an erasure of a subject takes: all under its names, in its own scope, named beside it, or derived from that."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from memory.domain.needles import Needles
from memory.domain.normalise import normalise_subject
from memory.models import Job, Memory, SubjectAlias
from memory.selectors.deletions import taken_by
from tenants.context import current_tenant_id

ERASED_EVENT: Final = "memory.erased"
SUBJECT, SCOPE, PICKED, DERIVED, MIXED = "subject", "scope", "picked", "derived", "mixed"
"""Why a memory goes: it is under one of the names; it is free text in the scope of that name; it was picked beside; all
that it was derived from goes; some of what it was derived from stays."""

# From what an earlier worker of the same step erased the way goes on: the shells keep their links.  A value that was
# replaced is followed under the subject's names and as free text only: others' history is not the subject's.
_PLAN: Final = """
WITH RECURSIVE roots(id) AS MATERIALIZED (
    SELECT m.id FROM memory_memory m
     WHERE m.tenant_id = %(tenant)s AND m.status <> 'erased'
       AND (m.subject = ANY(%(names)s) OR (m.subject = '' AND m.scope = ANY(%(names)s)) OR m.id = ANY(%(picked)s))
    UNION {taken}
),
edges AS MATERIALIZED (
    SELECT m.id AS child, p.parent
      FROM memory_memory m CROSS JOIN LATERAL unnest(
           m.derived_from || m.merged_into || CASE WHEN m.subject = '' THEN m.superseded_by END) AS p(parent)
     WHERE m.tenant_id = %(tenant)s AND p.parent IS NOT NULL
),
reached(id) AS (
    SELECT id FROM roots UNION SELECT e.child FROM edges e JOIN reached r ON r.id = e.parent
)
SELECT m.id, m.version, m.status,
       CASE WHEN m.subject = ANY(%(names)s) THEN 'subject'
            WHEN m.subject = '' AND m.scope = ANY(%(names)s) THEN 'scope'
            WHEN m.id = ANY(%(picked)s) THEN 'picked'
            WHEN EXISTS (SELECT FROM unnest(m.derived_from) AS p(parent)
                          WHERE p.parent NOT IN (SELECT id FROM reached)) THEN 'mixed'
            ELSE 'derived' END
  FROM memory_memory m
 WHERE m.tenant_id = %(tenant)s AND m.status <> 'erased' AND m.id IN (SELECT id FROM reached)
 ORDER BY m.id
"""
_NOBODY: Final = "SELECT NULL::uuid WHERE false"


def names_of(subject: str) -> list[str]:
    """The subject's own name, first, and every alias that leads to it.  Raises `BadText`, `TooLong`."""
    aliases = dict(SubjectAlias.objects.values_list("alias", "subject"))
    own = normalise_subject(subject, aliases)
    others = {alias for alias in aliases if normalise_subject(alias, aliases) == own}
    return [own, *sorted((others | {normalise_subject(subject)}) - {own})] if own else []


@dataclass(frozen=True, slots=True)
class Going:
    """A memory that goes, and why."""

    id: UUID
    version: int
    status: str
    why: str


def plan(names: Sequence[str], picked: Sequence[UUID], begun: Sequence[datetime] = ()) -> list[Going]:
    """What is there now, by id.  `begun`: the instants of steps that have begun to erase the same."""
    given: dict[str, Any] = {"tenant": current_tenant_id(), "names": list(names), "picked": list(picked)}
    parts = []
    for sql, values in map(partial(taken_by, ERASED_EVENT), begun):
        for value in values:
            name = f"taken_{len(given)}"
            given[name] = value
            sql = sql.replace("%s", f"%({name})s", 1)
        parts.append(sql)
    with connection.cursor() as cursor:
        cursor.execute(_PLAN.format(taken=" UNION ".join(parts) or _NOBODY), given)
        return [Going(*row) for row in cursor.fetchall()]


def begun_for(subject_hash: str) -> list[datetime]:
    """The instants of erasures of this subject that have not ended well: what they took still leads to the rest."""
    rows = Job.objects.filter(kind="subject.erase", result__subject_hash=subject_hash).exclude(status="done")
    return list(rows.order_by("created_at").values_list("created_at", flat=True))


def seal_of(going: Sequence[Going]) -> str:
    """Another set, or another version of one of them, has another seal."""
    lines = "\n".join(f"{one.id}.{one.version}" for one in going)
    return hashlib.sha256(lines.encode()).hexdigest()[:32]


def tallied(going: Sequence[Going], of: str) -> dict[str, int]:
    """How many by `why` or by `status`."""
    return dict(sorted(Counter(str(getattr(one, of)) for one in going).items()))


def sample(ids: Sequence[UUID], most: int) -> list[Memory]:
    """The newest of them."""
    return list(Memory.objects.filter(id__in=list(ids)).order_by("-recorded_at", "-id")[:most])


def mentioning(words: Sequence[str], but: Sequence[UUID]) -> QuerySet[Memory]:
    """Memories of others whose text holds any of the words."""
    any_word = Q(id__in=[])
    for word in words:
        any_word |= Q(content__icontains=word) | Q(value__icontains=word)
    rows: QuerySet[Memory] = (
        Memory.objects.filter(any_word).exclude(status="erased").exclude(id__in=list(but))
    )
    return rows.order_by("-recorded_at", "-id")


_COUNTS: Final = {
    "memory_revision": "memory_id = ANY(%(ids)s)",
    "memory_writedecision": "memory_id = ANY(%(ids)s)",
    "memory_manifest": "id IN (SELECT e.manifest_id FROM memory_manifestentry e"
    " WHERE e.tenant_id = %(tenant)s AND e.memory_id = ANY(%(ids)s))",
    "memory_promotionrequest": "memory_id = ANY(%(ids)s)",
    "memory_contradiction": "memory_a = ANY(%(ids)s) OR memory_b = ANY(%(ids)s)",
    "memory_mountentry": "memory_id = ANY(%(ids)s)",
    "memory_sampleitem": "memory_id = ANY(%(ids)s)",
}


def counted(ids: Sequence[UUID], names: Sequence[str]) -> dict[str, int]:
    """Rows by table that are tied to the memories; aliases of the names."""
    parts = [
        f"SELECT '{table}', count(*) FROM {table} WHERE tenant_id = %(tenant)s AND ({where})"
        for table, where in _COUNTS.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), {"tenant": current_tenant_id(), "ids": list(ids)})
        found = dict(cursor.fetchall())
    aliases = SubjectAlias.objects.filter(Q(alias__in=names) | Q(subject__in=names)).count()
    return {"memory_memory": len(ids), **found, "memory_subjectalias": aliases}


_REASONS: Final = """
SELECT reason, scope = ANY(%(names)s) OR target_id = ANY(%(names)s) AS named, count(*) FROM memory_auditevent
 WHERE tenant_id = %(tenant)s AND (reason <> '' OR scope = ANY(%(names)s) OR target_id = ANY(%(names)s))
 GROUP BY 1, 2
"""


def in_audit(names: Sequence[str], needles: Needles) -> int:
    """Events that tell of the subject: by the scope that they happened in, or in the reason that somebody gave.  They
    stay: nothing may change them."""
    with connection.cursor() as cursor:
        cursor.execute(_REASONS, {"tenant": current_tenant_id(), "names": list(names)})
        found = cursor.fetchall()
    return sum(count for reason, named, count in found if named or needles.found_in(reason))

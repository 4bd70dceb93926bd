"""Reads for the pages: a list of manifests with filters, what became of their entries, and who read one memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q

from memgov.ids import floor_id
from memory.domain.ids import parse_id
from memory.domain.policy import Policy
from memory.models import Manifest, ManifestEntry, Memory
from memory.selectors.pages_paging import Slice, Tally, by_id, tallied
from tenants.context import current_tenant_id

REPORTS = ("reported", "missing", "harmful")
KINDS = ("retrieve", "digest")


@dataclass(frozen=True, slots=True)
class Sought:
    """The filters, as they stand in the URL; what cannot be read filters nothing."""

    session: str = ""
    agent: str = ""
    memory: str = ""
    kind: str = ""
    report: str = ""

    @property
    def filtered(self) -> bool:
        return any((self.session, self.agent, self.memory, self.kind, self.report))


def kept_since(policy: Policy, now: datetime) -> datetime:
    """Manifests up to this instant are past their retention: they are shown to nobody."""
    return now - timedelta(days=policy.retention.manifest_days)


def page(sought: Sought, since: datetime, cursor: str) -> tuple[Slice[Manifest], Tally]:
    """One page of the manifests after `since` (what is older is past its retention), their number, and whether
    there are more than were counted."""
    rows = Manifest.objects.filter(id__gte=floor_id(since), at__gt=since).filter(_condition(sought))
    return by_id(rows, cursor), tallied(rows)


def _condition(sought: Sought) -> Q:
    wanted = Q()
    if sought.session:
        wanted &= Q(session=sought.session) & ~Q(session="")
    if (agent := _id("agt", sought.agent)) is not None:
        wanted &= Q(agent_id=agent)
    if sought.kind in KINDS:
        wanted &= Q(kind=sought.kind)
    if (memory := _id("mem", sought.memory)) is not None:
        wanted &= Q(id__in=ManifestEntry.objects.filter(memory_id=memory).values("manifest_id"))
    if sought.report == "missing":
        wanted &= Q(usage_reported_at=None)
    elif sought.report == "reported":
        wanted &= Q(usage_reported_at__isnull=False)
    elif sought.report == "harmful":
        harmful = ManifestEntry.objects.filter(verdict="harmful")
        wanted &= Q(usage_reported_at__isnull=False, id__in=harmful.values("manifest_id"))
    return wanted


def _id(prefix: str, text: str) -> UUID | None:
    try:
        return parse_id(prefix, text) if text else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many entries of a manifest were used, and how many did harm."""

    used: int = 0
    harmful: int = 0


def outcomes_of(ids: Collection[UUID]) -> dict[UUID, Outcome]:
    """By manifest; those without a report may be missing."""
    rows = ManifestEntry.objects.filter(manifest_id__in=list(ids)).exclude(verdict="").values("manifest_id")
    counted = rows.annotate(
        used=Count("rank", filter=Q(used_at__isnull=False)),
        harmful=Count("rank", filter=Q(verdict="harmful")),
    )
    return {row["manifest_id"]: Outcome(row["used"], row["harmful"]) for row in counted}


def contents_of(ids: Collection[UUID]) -> dict[UUID, str]:
    """The present texts of these memories."""
    return dict(Memory.objects.filter(id__in=list(ids)).values_list("id", "content"))


_READERS = """
SELECT m.agent_id, max(m.agent_name), count(*), count(DISTINCT nullif(m.session, '')), count(e.used_at),
       count(*) FILTER (WHERE e.verdict = 'harmful'), max(m.at)
  FROM memory_manifestentry e
  JOIN memory_manifest m ON m.tenant_id = %(tenant)s AND m.id = e.manifest_id
 WHERE e.tenant_id = %(tenant)s AND e.memory_id = %(memory)s AND m.at > %(since)s
   AND e.manifest_id >= memgov.id_floor(%(since)s) AND m.id >= memgov.id_floor(%(since)s)
 GROUP BY m.agent_id ORDER BY max(m.at) DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that was given a memory: how often, in how many sessions, and what it said of it."""

    agent_id: UUID | None
    agent: str
    given: int
    sessions: int
    used: int
    harmful: int
    last_at: datetime


def readers_given(memory_id: UUID, since: datetime, limit: int = 20) -> list[Reader]:
    """Who was given the memory after `since`, the latest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            _READERS, {"tenant": current_tenant_id(), "memory": memory_id, "since": since, "limit": limit}
        )
        return [Reader(*row) for row in cursor.fetchall()]

"""The explorer: memories by search and filters, along the primary key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.postgres.fields.array import ArrayContains  # type: ignore[attr-defined]
from django.db.models import OuterRef, Q, QuerySet, Subquery

from memory.domain.ids import parse_id
from memory.domain.policy import Policy
from memory.domain.text import query_terms
from memory.domain.types import Band
from memory.models import Memory, MemoryIndex, ScopeRecord
from memory.selectors.bands import in_band
from memory.selectors.pages_paging import Slice, Tally, by_id, counted, tallied
from memory.selectors.vocabulary import words_known
from tenants.context import current_tenant_id
from tenants.models import Agent

OPTIONS = 200
_BANDS = frozenset(one.value for one in Band)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The explorer's filters; an empty one filters nothing, one that cannot be read matches nothing."""

    q: str = ""
    scope: str = ""
    kind: str = ""
    status: str = ""
    band: str = ""
    origin: str = ""
    agent: str = ""
    pinned: bool = False

    @property
    def filtered(self) -> bool:
        return self != Wanted()


def found(wanted: Wanted, policy: Policy, now: datetime) -> QuerySet[Memory]:
    """The memories that match, all of them, however many have to be read."""
    rows, said = _sought(wanted, policy, now)
    return rows if said is None else rows.filter(said)


def _sought(wanted: Wanted, policy: Policy, now: datetime) -> tuple[QuerySet[Memory], Q | None]:
    """The memories within the filters, and what of the search no index answers."""
    exact = _uuid("mem", wanted.q)
    rows = _within(wanted, policy, now)
    if exact is not None:
        return rows.filter(id=exact), None
    return rows, _says(wanted.q) if wanted.q else None


def _within(wanted: Wanted, policy: Policy, now: datetime) -> QuerySet[Memory]:
    rows = Memory.objects.all()
    agent = _uuid("agt", wanted.agent)
    if (wanted.agent and agent is None) or (wanted.band and wanted.band not in _BANDS):
        # A filter that were passed over would offer everything, to be deleted even.
        return rows.none()
    for name in ("scope", "kind", "status", "origin"):
        value = getattr(wanted, name)
        if value:
            rows = rows.filter(**{name: value})
    if wanted.agent:
        rows = rows.filter(agent_id=agent)
    if wanted.pinned:
        rows = rows.filter(pinned_at__isnull=False)
    if wanted.band:
        rows = rows.filter(in_band(Band(wanted.band), policy, words_known(current_tenant_id()).registry, now))
    return rows


def page(wanted: Wanted, policy: Policy, now: datetime, cursor: str) -> tuple[Slice[Memory], Tally | None]:
    """One page and how many match; None where the search does not reach all of them."""
    rows, said = _sought(wanted, policy, now)
    return by_id(rows, cursor, said), counted(rows, said)


def live_count() -> Tally:
    """Memories that readers may get now."""
    return tallied(Memory.objects.filter(status="live"))


def scope_names() -> list[str]:
    """Scopes in use, for the filter."""
    return list(ScopeRecord.objects.order_by("name").values_list("name", flat=True)[:OPTIONS])


def agent_names() -> list[tuple[UUID, str]]:
    """Agents, for the filter."""
    return list(Agent.objects.order_by("name").values_list("id", "name")[:OPTIONS])


def _says(q: str) -> Q:
    """By the words of the index (live memories), or by a piece of text in any status.

    The words are looked up row by row, among the rows that a search reads: under row-level security no index over
    words is asked, so that the other way round the whole of it would be read.
    """
    said = Q(content__icontains=q) | Q(subject__icontains=q) | Q(predicate__icontains=q)
    words = query_terms(q)
    if not words:
        return said
    indexed = MemoryIndex.objects.filter(memory_id=OuterRef("id")).values("terms")[:1]
    return said | Q(ArrayContains(Subquery(indexed), words))


def _uuid(prefix: str, text: str) -> UUID | None:
    try:
        return parse_id(prefix, text)
    except ValueError:
        return None

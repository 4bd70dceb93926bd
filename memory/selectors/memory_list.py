"""The list of memories with its filters; what a reader may see, as one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.domain.policy import Policy
from memory.domain.types import Band
from memory.models import Memory, Revision
from memory.models.memory import LIVE_STATUSES
from memory.selectors.bands import in_band
from memory.selectors.listing import readable_scopes
from memory.selectors.timely import holds, overtaken
from memory.selectors.vocabulary import name_now, words_known
from tenants.context import current_tenant_id
from tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a list of memories is narrowed to; None means any."""

    scopes: Sequence[str] | None = None
    statuses: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    layers: Sequence[str] | None = None
    origins: Sequence[str] | None = None
    subject: str | None = None
    predicate: str | None = None
    agent: str | UUID | None = None
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    band: Band | None = None
    pinned: bool | None = None
    words: str | None = None
    updated_after: datetime | None = None
    recorded_after: datetime | None = None
    recorded_before: datetime | None = None


def memory_list(
    principal: Principal, filters: MemoryFilters, policy: Policy, now: datetime
) -> QuerySet[Memory]:
    """Memories of the scopes that the principal reads.  Without statuses: what a retrieval could return now."""
    rows: QuerySet[Memory] = Memory.objects.all()
    if principal.kind == "agent":
        rows = rows.filter(scope__in=readable_scopes(principal, filters.scopes))
    elif filters.scopes is not None:
        rows = rows.filter(scope__in=filters.scopes)
    rows = rows.filter(_status_is(filters.statuses, now))
    for column, values in (("kind", filters.kinds), ("layer", filters.layers), ("origin", filters.origins)):
        if values is not None:
            rows = rows.filter(**{f"{column}__in": list(values)})
    for column, name in (("subject", filters.subject), ("predicate", filters.predicate)):
        if name is not None:
            rows = rows.filter(**{f"{column}__in": _spellings(column, name)})
    for column, value in (
        ("session", filters.session), ("task", filters.task), ("tool", filters.tool),
        ("content__icontains", filters.words),
        ("recorded_at__gt", filters.recorded_after), ("recorded_at__lt", filters.recorded_before),
    ):  # fmt: skip
        if value is not None:
            rows = rows.filter(**{column: value})
    if filters.agent is not None:
        rows = rows.filter(**{"agent_id" if isinstance(filters.agent, UUID) else "agent_name": filters.agent})
    return _by_time(rows, filters, policy, now)


def _spellings(column: str, name: str) -> set[str]:
    """A name as given and as it is stored: who writes `lives_in` finds what the vocabulary calls `city`."""
    try:
        if column == "subject":
            return {name, name_now(name)}
        return {name, words_known(current_tenant_id()).registry.canonical(name)}
    except ValueError:
        return {name}  # no writer could have stored it under another


def _by_time(
    rows: QuerySet[Memory], filters: MemoryFilters, policy: Policy, now: datetime
) -> QuerySet[Memory]:
    if filters.band is not None:
        rows = rows.filter(in_band(filters.band, policy, words_known(current_tenant_id()).registry, now))
    if filters.pinned is not None:
        pinned = Q(pinned_at__isnull=False) & (Q(pinned_until=None) | Q(pinned_until__gt=now))
        rows = rows.filter(pinned if filters.pinned else ~pinned)
    if filters.updated_after is not None:
        revised = Revision.objects.filter(
            tenant_id=OuterRef("tenant_id"), memory_id=OuterRef("id"), at__gt=filters.updated_after
        )
        rows = rows.filter(Q(learned_at__gt=filters.updated_after) | Exists(revised))
    return rows


def _status_is(statuses: Iterable[str] | None, now: datetime) -> Q:
    """A row past its expiry or its end counts as expired, one that was overtaken as superseded, whether or not a sweep
    has been there.  What waits for its beginning is live, and not among what a retrieval could return."""
    over = Q(expires_at__isnull=False, expires_at__lte=now)
    if statuses is None:
        return Q(status__in=LIVE_STATUSES) & ~over & holds(now)
    over |= Q(valid_to__isnull=False, valid_to__lte=now)
    replaced = Q(single_valued=True) & Q(overtaken(now))
    wanted = set(statuses)
    live, other = wanted & set(LIVE_STATUSES), wanted - set(LIVE_STATUSES)
    found = Q(status__in=sorted(other))
    if live:
        found |= Q(status__in=sorted(live)) & ~over & ~replaced
    if "expired" in wanted:
        found |= Q(status__in=LIVE_STATUSES) & over
    if "superseded" in wanted:
        found |= Q(status__in=LIVE_STATUSES) & replaced
    return found

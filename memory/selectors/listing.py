"""Lists that are walked page by page: keyset pages, and what an agent may see of each kind of row.

A page starts after a key and not at a number, so that rows written meanwhile move nothing: whoever walks to
the end has met every row that was there at the start exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import RawSQL

from memory.domain.scopes import Verb
from memory.models import AuditEvent, PromotionRequest
from memory.selectors.visibility import READABLE_SCOPES, reach_of
from tenants.principals import Principal

M = TypeVar("M", bound=Model)

_NAMED = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list: just after ``key``, walking forward (down the list) or back."""

    key: Any
    back: bool = False


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """Rows in the order of the list, and the places to go on from; None where the list ends."""

    rows: Sequence[M]
    next: Cursor | None
    previous: Cursor | None


def page(rows: QuerySet[M], key: str, size: int, cursor: Cursor | None = None) -> Page[M]:
    """One page of ``rows``, highest ``key`` first.  ``key`` has to be unique in the tenant.  One query."""
    back = cursor is not None and cursor.back
    if cursor is not None:
        rows = rows.filter(**{f"{key}__{'gt' if back else 'lt'}": cursor.key})
    found = list(rows.order_by(key if back else f"-{key}")[: size + 1])
    more, found = len(found) > size, found[:size]
    if back:
        found.reverse()
    if not found:
        # Past an end: the way back leads to where the caller stood.
        return Page([], None, None)
    first, last = getattr(found[0], key), getattr(found[-1], key)
    has_next = more if not back else True
    has_previous = cursor is not None if not back else more
    return Page(
        found,
        Cursor(last) if has_next else None,
        Cursor(first, back=True) if has_previous else None,
    )


def readable_scopes(
    principal: Principal, only: Iterable[str] | None = None, *, verb: Verb = Verb.READ
) -> RawSQL:
    """The names of the scopes that the principal reads (all of its own sessions and tasks), as a subquery.  With
    another `verb`, those on which it may do that.

    The same SQL as retrieval uses, so that a list cannot show what a retrieval would not.
    """
    parameters = reach_of(principal, all_own=True, verb=verb).parameters(only)
    names = _NAMED.findall(READABLE_SCOPES)
    return RawSQL(_NAMED.sub("%s", READABLE_SCOPES), [parameters[name] for name in names])


def audit_events(principal: Principal) -> QuerySet[AuditEvent]:
    """Events of scopes that the principal reads, and whatever it did itself."""
    events: QuerySet[AuditEvent] = AuditEvent.objects.all()
    if principal.kind != "agent":
        return events
    return events.filter(Q(actor_id=principal.id) | Q(scope__in=readable_scopes(principal)))


def promotions(principal: Principal) -> QuerySet[PromotionRequest]:
    """Requests of its own, and those for memories of scopes that the principal reads."""
    requests: QuerySet[PromotionRequest] = PromotionRequest.objects.all()
    if principal.kind != "agent":
        return requests
    return requests.filter(Q(proposer_id=principal.id) | Q(from_scope__in=readable_scopes(principal)))

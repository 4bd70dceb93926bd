"""What a bulk deletion names, what of that may go, and why the rest is left.

The same filters as the lists, so that what a list shows is what the deletion takes.  Why a row is left is computed with
the row, in the database: a count of a hundred thousand reads none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import (
    BigIntegerField,
    Case,
    CharField,
    Count,
    Exists,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, Concat

from memgov.ids import floor_id
from memory.domain.policy import Policy
from memory.domain.scopes import Verb
from memory.models import Memory, MountEntry
from memory.selectors.listing import readable_scopes
from memory.selectors.memory_list import MemoryFilters, memory_list
from memory.selectors.pages_memories import Wanted, found
from memory.selectors.visibility import rules_of
from tenants.context import current_tenant_id
from tenants.principals import Principal

GONE: Final = ("deleted", "erased")
NOT_OWN, SCOPE_DENIED, MOUNTED, PINNED, OTHER_SOURCE, CHANGED = (
    "not_own", "scope_denied", "mounted", "pinned", "other_source", "changed",
)  # fmt: skip
"""Why a memory is left: somebody else's, no right to write there, declared by a mount, pinned, learned elsewhere too,
changed while the step ran."""
REASONS: Final = (NOT_OWN, SCOPE_DENIED, MOUNTED, PINNED, OTHER_SOURCE, CHANGED)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which memories: by id, by the filters of a list, or by those of the explorer."""

    ids: tuple[UUID, ...] = ()
    filters: MemoryFilters | None = None
    wanted: Wanted | None = None

    @property
    def given(self) -> bool:
        """Whether there is any condition; without one it would be everything."""
        values = [getattr(self.filters, one.name) for one in fields(MemoryFilters)] if self.filters else []
        narrowed = any(value not in (None, "", [], ()) for value in values)
        return bool(self.ids) or narrowed or (self.wanted is not None and self.wanted.filtered)

    @property
    def asks_for_pinned(self) -> bool:
        """Ids and a filter for pinned memories mean these as well."""
        if self.ids:
            return True
        return bool(self.filters and self.filters.pinned) or bool(self.wanted and self.wanted.pinned)

    @property
    def session(self) -> str:
        """The session whose memories are meant; what others learned as well is not only its own."""
        return (self.filters.session or "") if self.filters else ""


def named(principal: Principal, chosen: Chosen, policy: Policy, now: datetime) -> QuerySet[Memory]:
    """The memories that are named and that the principal may see, gone ones as well where ids name them."""
    if chosen.ids:
        rows: QuerySet[Memory] = Memory.objects.filter(id__in=chosen.ids)
        return rows.filter(scope__in=readable_scopes(principal)) if principal.kind == "agent" else rows
    if chosen.filters is not None:
        return memory_list(principal, chosen.filters, policy, now)
    return found(chosen.wanted or Wanted(), policy, now)


def judged(
    principal: Principal, chosen: Chosen, seen: datetime, policy: Policy, now: datetime
) -> QuerySet[Any]:
    """What is named and not gone yet, each with `left`: why it stays, "" for what goes."""
    rows = named(principal, chosen, policy, now).exclude(status__in=GONE)
    if not chosen.ids:
        rows = rows.filter(recorded_at__lte=seen)
    return rows.annotate(
        left=_why_left(principal, now, pinned=chosen.asks_for_pinned, session=chosen.session)
    )


def withheld(principal: Principal, ids: Iterable[UUID]) -> dict[UUID, str]:
    """Of deleted memories those that the principal may not bring back, and why."""
    if principal.kind != "agent":
        return {}
    why = Case(*_out_of_reach(principal), default=Value(""), output_field=CharField())
    rows: QuerySet[Any] = Memory.objects.filter(id__in=list(ids)).annotate(left=why)
    return dict(rows.exclude(left="").values_list("id", "left"))


def _why_left(principal: Principal, now: datetime, *, pinned: bool, session: str) -> Case:
    whens: list[When] = []
    if principal.kind == "agent":
        if not takes_all(principal):
            not_own = Q(agent_id=None) | ~Q(agent_id=principal.agent_id)
            whens.append(When(not_own, then=Value(NOT_OWN)))
        whens += _out_of_reach(principal)
    if not pinned:
        held = Q(pinned_at__isnull=False) & (Q(pinned_until=None) | Q(pinned_until__gt=now))
        whens.append(When(held, then=Value(PINNED)))
    if session:
        whens.append(When(~Q(also_learned_in=[]), then=Value(OTHER_SOURCE)))
    return Case(*whens, default=Value(""), output_field=CharField())


def _out_of_reach(principal: Principal) -> list[When]:
    """Where an agent may not write, and what a file declares."""
    writable = readable_scopes(principal, verb=Verb.WRITE)
    declared = MountEntry.objects.filter(tenant_id=OuterRef("tenant_id"), memory_id=OuterRef("id"))
    return [
        When(~Q(scope__in=writable), then=Value(SCOPE_DENIED)),
        When(Exists(declared), then=Value(MOUNTED)),
    ]


def takes_all(principal: Principal) -> bool:
    """Whether an agent may delete what others wrote: with a write grant on every scope."""
    return any(rule.pattern == "*" and Verb.WRITE in rule.verbs for rule in rules_of(principal))


@dataclass(frozen=True, slots=True)
class Tally:
    """How many go, how many are left by reason, and the seal of those that go: another set or version has another."""

    going: int
    left: dict[str, int]
    seal: str


def tally(rows: QuerySet[Any]) -> Tally:
    """Count judged rows.  One query, whatever their number."""
    text = Concat(Cast("id", TextField()), Value("."), Cast("version", TextField()), output_field=TextField())
    hashed = Func(text, Value(0), function="hashtextextended", output_field=BigIntegerField())
    groups = rows.order_by().values("left").annotate(rows=Count("id"), seal=Sum(hashed))
    counts = {one["left"]: (one["rows"], one["seal"]) for one in groups}
    going, seal = counts.pop("", (0, 0))
    left = {reason: count for reason, (count, _seal) in sorted(counts.items())}
    return Tally(going, left, f"{going}.{int(seal or 0) % (1 << 64):016x}")


@dataclass(frozen=True, slots=True)
class Row:
    """A memory of a deletion.  `left` says why it stays."""

    id: UUID
    version: int
    status: str
    scope: str
    content: str
    recorded_at: datetime
    left: str


def rows_of(rows: QuerySet[Any], most: int) -> list[Row]:
    """Judged rows in the order of the query."""
    values = rows.values_list("id", "version", "status", "scope", "content", "recorded_at", "left")
    return [Row(*one) for one in values[:most]]


def after(rows: QuerySet[Any], place: UUID, most: int | None = None) -> list[tuple[UUID, int]]:
    """A batch of judged rows along their ids: (id, version)."""
    return list(rows.filter(id__gt=place).order_by("id").values_list("id", "version")[:most])


# What is derived has an index of its own (`derived_rows`).
_REACHED: Final = """
WITH RECURSIVE roots(id) AS MATERIALIZED ({roots}),
edges AS MATERIALIZED (
    SELECT m.id AS child, p.parent
      FROM memory_memory m CROSS JOIN LATERAL unnest(m.derived_from) AS p(parent)
     WHERE m.tenant_id = %s AND NOT (m.derived_from = '{{}}')
),
reached(id) AS (
    SELECT e.child FROM edges e JOIN roots r ON r.id = e.parent
    UNION SELECT e.child FROM edges e JOIN reached r ON r.id = e.parent
)
SELECT id FROM reached EXCEPT ({named})
"""
# Revisions carry ids of their instant, so that those of one step lie together in the primary key.
_TAKEN: Final = """
SELECT r.memory_id FROM memory_revision r
 WHERE r.tenant_id = %s AND r.id >= %s AND r.id < %s AND r.at = %s AND r.event = %s
"""


Sql = tuple[str, Sequence[Any]]
"""A part of a statement, with its parameters."""


def ids_of(rows: QuerySet[Any]) -> Sql:
    """The ids of rows."""
    try:
        sql, parameters = rows.order_by().values_list("id").query.sql_with_params()
    except EmptyResultSet:  # of a filter that nothing can match there is no statement
        return "SELECT NULL::uuid WHERE false", ()
    return sql, parameters


def taken_by(event: str, at: datetime) -> Sql:
    """The ids of what the step of that instant has taken so far."""
    first = floor_id(at)
    return _TAKEN, (current_tenant_id(), first, UUID(int=first.int + (1 << 80)), at, event)


def derived(roots: Sql, named: Sql) -> RawSQL:
    """The ids of what was derived from the roots at any depth, without what is named itself: that is judged as such."""
    sql = _REACHED.format(roots=roots[0], named=named[0])
    return RawSQL(sql, (*roots[1], current_tenant_id(), *named[1]))


def derived_from(ids: Sequence[UUID], rows: QuerySet[Any]) -> list[UUID]:
    """The same of a batch of the named rows."""
    if not ids:
        return []
    roots: Sql = ("SELECT unnest(%s::uuid[])", (list(ids),))
    sql = derived(roots, roots)
    with connection.cursor() as cursor:
        cursor.execute(sql.sql, sql.params)
        reached = [row[0] for row in cursor.fetchall()]
    named = set(rows.filter(id__in=reached).values_list("id", flat=True)) if reached else set()
    return [one for one in reached if one not in named]


def judged_derived(
    principal: Principal, ids: Iterable[UUID] | RawSQL, seen: datetime, now: datetime
) -> QuerySet[Any]:
    """Of derived memories those that the principal may see, that were there at `seen` and are not gone, each with
    `left`."""
    rows: QuerySet[Any] = Memory.objects.filter(id__in=ids, recorded_at__lte=seen).exclude(status__in=GONE)
    if principal.kind == "agent":
        rows = rows.filter(scope__in=readable_scopes(principal))
    return rows.annotate(left=_why_left(principal, now, pinned=False, session=""))

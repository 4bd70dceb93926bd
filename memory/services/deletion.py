"""Deleting many memories at once: what would go, what is left and why.  Doing it is `memory.services.deletion_steps`.

A person deletes what a filter or ids name.  An agent deletes what it wrote itself, where it may write; what others
wrote takes a write grant on every scope.  A filter spares what a person pinned, unless it asks for pinned memories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.domain.ids import parse_id, show_id
from memory.domain.types import Band
from memory.selectors import deletions as found
from memory.selectors.deletions import GONE, Chosen, Row
from memory.selectors.memory_list import MemoryFilters
from memory.selectors.pages_memories import Wanted
from memory.selectors.policies import active_policy
from memory.services.errors import Conflict, Denied, NotFound
from tenants.principals import Principal

SAMPLE: Final = 100
"""Memories that a look names."""
MOST_IDS: Final = 1000
MOST_UNASKED: Final = 2_000
"""Beyond this many, what was derived is not counted where nobody asked to take it along."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be deleted and why.  `seen`: what was recorded later is not meant.  `seal`: of the look that it was
    decided on, with the same `cascade`; nothing is done when another set would go by now."""

    chosen: Chosen
    reason: str
    cascade: bool = False
    seen: datetime | None = None
    seal: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What would go, at this moment."""

    seen: datetime
    going: int
    sample: Sequence[Row]
    left: Mapping[str, int]
    left_named: Sequence[Row]
    derived: int | None
    """How many more a cascade would take; None where nobody asked and there are many roots."""
    derived_seal: str
    """Of what a cascade would take; "" where it was not asked for and is not known."""
    derived_sample: Sequence[Row]
    not_found: Sequence[UUID]
    already: Sequence[UUID]
    seal: str

    def sealed(self, cascade: bool) -> str:
        """What a step is bound to that takes this, with what was derived from it or without."""
        return both_seals(self.seal, self.derived_seal) if cascade else self.seal


def both_seals(seal: str, derived_seal: str) -> str:
    """The seal of what is named and of what a cascade takes along."""
    return f"{seal}+{derived_seal}"


def look(principal: Principal, chosen: Chosen, seen: datetime, now: datetime, *, cascade: bool) -> Look:
    """Sort what is named into what goes and what is left.  Inside the tenant's context."""
    policy = active_policy().policy
    rows = found.judged(principal, chosen, seen, policy, now)
    counted = found.tally(rows)
    going = rows.filter(left="").order_by("-id")
    derived = _Derived(None, [], "")
    if cascade or counted.going <= MOST_UNASKED:
        derived = _derived(principal, rows, seen, now)
    not_found, already = _absent(principal, chosen, now)
    return Look(
        seen=seen, going=counted.going, sample=found.rows_of(going, SAMPLE), left=counted.left,
        left_named=found.rows_of(rows.exclude(left="").order_by("-id"), SAMPLE) if counted.left else [],
        derived=derived.count, derived_sample=derived.sample, derived_seal=derived.seal,
        not_found=not_found, already=already, seal=counted.seal,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Derived:
    count: int | None
    sample: Sequence[Row]
    seal: str


def _derived(principal: Principal, rows: Any, seen: datetime, now: datetime) -> _Derived:
    """Of the judged rows those that go, and what a cascade takes along; counted in the database, however many."""
    ids = found.derived(found.ids_of(rows.filter(left="")), found.ids_of(rows))
    along = found.judged_derived(principal, ids, seen, now).filter(left="")
    counted = found.tally(along)
    return _Derived(counted.going, found.rows_of(along.order_by("-id"), SAMPLE), counted.seal)


def _absent(principal: Principal, chosen: Chosen, now: datetime) -> tuple[list[UUID], list[UUID]]:
    """Of the ids those that are not there, or not for this principal, and those that are gone already."""
    if not chosen.ids:
        return [], []
    rows = found.named(principal, chosen, active_policy().policy, now)
    status = dict(rows.values_list("id", "status"))
    return (
        [one for one in chosen.ids if one not in status],
        [one for one in chosen.ids if status.get(one) in GONE],
    )


def nothing_goes(chosen: Chosen, seen: Look) -> NotFound | Denied | Conflict:
    """Why a deletion that would take nothing is refused: never a success with 0."""
    error: NotFound | Denied | Conflict
    if chosen.ids and len(seen.not_found) == len(set(chosen.ids)):
        error = NotFound("there are no such memories, or this key may not see them; nothing was deleted")
    elif seen.left and set(seen.left) <= {found.NOT_OWN, found.SCOPE_DENIED}:
        error = Denied(
            "this key may delete none of them: an agent deletes what it wrote itself where it may write; others'"
            " memories take a write grant on '*'. Nothing was deleted",
            verb="delete", target="memories", target_kind="memory",
        )  # fmt: skip
    elif seen.left:
        why = ", ".join(f"{reason.replace('_', ' ')}: {count}" for reason, count in seen.left.items())
        error = Conflict(f"nothing matches that could go ({why}); nothing was deleted", code="nothing_to_do")
    elif seen.already:
        error = Conflict(
            "nothing matches that could go, or all of it is gone already; nothing was deleted",
            code="nothing_to_do",
        )
    else:
        error = Conflict("nothing matches that could go; nothing was deleted", code="nothing_to_do")
    error.more = told(seen)
    return error


def told(seen: Look) -> dict[str, Any]:
    """What is not going, as JSON values."""
    return {
        "not_found": [show_id("mem", one) for one in seen.not_found],
        "already": [show_id("mem", one) for one in seen.already],
        "left": dict(seen.left),
        "left_named": [{"memory": show_id("mem", one.id), "reason": one.left} for one in seen.left_named],
    }


@dataclass(slots=True)
class Left:
    """What a step leaves as it is, counted and, for the first ones, named."""

    counts: dict[str, int] = field(default_factory=dict)
    named: list[dict[str, str]] = field(default_factory=list)

    def add(self, other: Left) -> None:
        """What is left beside it."""
        for reason, count in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count
        self.named += other.named[: SAMPLE - len(self.named)]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def left_of(rows: Any) -> Left:
    """What there still is of judged rows when a step has ended: what might have gone had changed while it ran."""
    left = Left()
    tally = found.tally(rows)
    left.counts |= tally.left
    if tally.going:
        left.counts[found.CHANGED] = tally.going
    for one in found.rows_of(rows.order_by("-id"), SAMPLE) if left.counts else ():
        left.named.append({"memory": show_id("mem", one.id), "reason": one.left or found.CHANGED})
    return left


def as_json(chosen: Chosen) -> dict[str, Any]:
    """As it is kept with a job."""
    if chosen.ids:
        return {"ids": [one.hex for one in chosen.ids]}
    if chosen.filters is not None:
        return {"filter": _plain(chosen.filters)}
    return {"explorer": _plain(chosen.wanted or Wanted())}


def from_json(kept: Mapping[str, Any]) -> Chosen:
    """As `as_json` wrote it."""
    if "ids" in kept:
        return Chosen(ids=tuple(UUID(hex=one) for one in kept["ids"]))
    if "explorer" in kept:
        return Chosen(wanted=Wanted(**kept["explorer"]))
    given: dict[str, Any] = dict(kept["filter"])
    for name in ("updated_after", "recorded_after", "recorded_before"):
        if name in given:
            given[name] = datetime.fromisoformat(given[name])
    if "band" in given:
        given["band"] = Band(given["band"])
    if given.get("agent", "").startswith("agt_"):
        given["agent"] = parse_id("agt", given["agent"])
    return Chosen(filters=MemoryFilters(**given))


def _plain(given: MemoryFilters | Wanted) -> dict[str, Any]:
    values = {one.name: getattr(given, one.name) for one in fields(given)}
    return {name: _value(value) for name, value in values.items() if value is not None and value != ""}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return show_id("agt", value)
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return value if isinstance(value, bool) else str(value)

"""Values in time, by their rules alone: whatever is written, one value holds at each instant, and it is a right one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.decisions import Action
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy
from memory.domain.reconciliation import reconcile
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.types import Candidate, Known, Status
from memory.domain.validity import begins_later, holding_at
from tests.domain.candidates import NOON, candidate, known

RULE = DEFAULT_REGISTRY.lookup("plan")
DAYS = st.integers(min_value=-6, max_value=6)


def at(day: int) -> datetime:
    return NOON + timedelta(days=day)


class Shelf:
    """The rows of one key, written at different instants; keeps what the database would refuse."""

    def __init__(self) -> None:
        self.rows: list[Known] = []

    def write(self, c: Candidate, now: datetime) -> Action:
        found = reconcile(c, self.rows, RULE, Policy(), value_hash=value_hash(c.said), now=now)
        gone = {*found.over, *(found.targets if found.action is Action.SUPERSEDE else ())}
        self.rows = [replace(row, status=Status.SUPERSEDED) if row.id in gone else row for row in self.rows]
        if found.action in (Action.INSERT, Action.SUPERSEDE):
            begins = begins_later(c.valid_from, now)
            row = known(c, learned_at=now, valid_to=c.valid_to, begins_at=begins, single_valued=True)
            self.rows.append(row)
        self.never_two_in_one_place()
        return found.action

    def never_two_in_one_place(self) -> None:
        places = [row.begins_at for row in self.rows if row.status is Status.LIVE]
        assert len(places) == len(set(places)), "the unique index would refuse this"

    def holds(self, now: datetime) -> list[str | None]:
        live = [row for row in self.rows if row.status is Status.LIVE]
        return [row.value for row in holding_at(live, now)[0]]


def plan(value: str, begins: int | None = None, ends: int | None = None) -> Candidate:
    return candidate(
        subject="user:1", predicate="plan", value=value, valid_from=None if begins is None else at(begins),
        valid_to=None if ends is None else at(ends),
    )  # fmt: skip


WRITES = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["pro", "free", "team"]), st.none() | DAYS, st.none() | DAYS
    ),
    max_size=8,
)


@given(WRITES)
def test_values_in_time__any_writes__one_place_each_and_at_most_one_holds_at_any_instant(
    writes: list[tuple[int, str, int | None, int | None]],
) -> None:
    shelf = Shelf()
    for day, value, begins, ends in sorted(writes, key=lambda one: one[0]):
        if begins is not None and ends is not None and ends < begins:
            continue
        shelf.write(plan(value, begins, ends), at(day))
        for later in range(day, 8):
            assert len(shelf.holds(at(later))) <= 1


@given(st.integers(1, 5), st.integers(0, 4), st.sampled_from(["free", "team"]))
def test_values_in_time__written_for_later__holds_from_its_instant_on_and_not_before(
    begins: int, day: int, value: str
) -> None:
    shelf = Shelf()
    shelf.write(plan("pro"), at(-1))
    shelf.write(plan(value, begins), at(0))
    assert shelf.holds(at(day)) == ([value] if day >= begins else ["pro"])
    assert shelf.holds(at(begins) - timedelta(microseconds=1)) == ["pro"]
    assert shelf.holds(at(begins)) == [value]


@given(st.integers(-6, 0), st.sampled_from(["pro", "free"]))
def test_values_in_time__what_ended_before_the_known_was_learned__changes_nothing(
    ended: int, value: str
) -> None:
    shelf = Shelf()
    shelf.write(plan("pro"), at(1))
    assert shelf.write(plan(value, ends=ended), at(2)) is Action.INSERT_HISTORY
    assert shelf.holds(at(2)) == ["pro"]


@given(st.integers(-6, -1))
def test_values_in_time__an_older_beginning__never_replaces_a_newer_one(older: int) -> None:
    shelf = Shelf()
    shelf.write(plan("pro", begins=0), at(1))
    assert shelf.write(plan("free", begins=older), at(2)) is Action.INSERT_HISTORY
    later = Shelf()
    later.write(plan("pro", begins=5), at(1))
    later.write(plan("free", begins=older), at(2))
    assert (later.holds(at(2)), later.holds(at(5))) == (["free"], ["pro"])

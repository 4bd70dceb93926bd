from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.fusion import Hit, Scored, boosted, select
from memory.domain.policy import Policy
from memory.domain.scopes import ScopeKind
from memory.domain.types import Band

RULES = Policy().retrieval


def hit(number: int, **fields: Any) -> Hit:
    return Hit(**({"id": UUID(int=number), "source": "s1"} | fields))


def ten(_: Hit) -> int:
    return 10


def order(scored: list[Scored]) -> list[int]:
    return [one.hit.id.int for one in scored]


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.sampled_from(Band), st.sampled_from(ScopeKind))
def test_boosted__boosts__stay_within_their_bounds_and_explain_the_score(
    text: float, trust: float, pinned: bool, band: Band, kind: ScopeKind
):
    one = hit(1, text=text / 2, trust=trust, pinned=pinned, band=band, scope_kind=kind)
    for scored in boosted([one, hit(2, text=0.5)], RULES):
        boosts = {k: v for k, v in scored.parts.items() if k not in ("text", "vector", "neighbours")}
        assert all(v <= 0.05 + 1e-9 for v in boosts.values())
        assert scored.score == pytest.approx(sum(scored.parts.values()), abs=1e-5)


def test_boosted__each_boost__decides_between_equals_and_is_named():
    better = {
        "scope": {"scope_kind": ScopeKind.TASK}, "freshness": {"band": Band.FRESH}, "trust": {"trust": 1.0},
        "pin": {"pinned": True},
    }  # fmt: skip
    plain = {"text": 0.4, "scope_kind": ScopeKind.GLOBAL, "band": Band.AGING, "trust": 0.5}
    for name, fields in better.items():
        first, second = boosted([hit(1, **plain | fields), hit(2, **plain)], RULES)
        assert first.hit.id.int == 1, name
        assert first.parts.get(name, 0.0) > second.parts.get(name, 0.0)


def test_boosted__equal_scores__newest_first():
    assert order(boosted([hit(1, text=0.3), hit(3, text=0.3), hit(2, text=0.3)], RULES)) == [3, 2, 1]


def ranked(*hits: Hit) -> list[Scored]:
    return [Scored(one, 1.0 - n / 100) for n, one in enumerate(hits)]


def test_select__one_loud_source__gets_at_most_its_share():
    loud = [hit(n, source="loud") for n in range(20)]
    quiet = [hit(100 + n, source="quiet") for n in range(3)]
    kept, excluded = select(ranked(*loud, *quiet), 10, 1500, 0.5, ten)
    sources = [one.hit.source for one in kept]
    assert (sources.count("loud"), sources.count("quiet")) == (5, 3)
    assert excluded == {"source_share": 15}


def test_select__one_source_in_all__is_not_cut():
    kept, excluded = select(ranked(*[hit(n) for n in range(12)]), 10, 1500, 0.5, ten)
    assert len(kept) == 10 and excluded == {"limit": 2}


def test_select__limit_of_one__still_gives_one():
    kept, _ = select(ranked(hit(1, source="a"), hit(2, source="b")), 1, 1500, 0.5, ten)
    assert order(kept) == [1]


def test_select__same_value_twice__keeps_the_better():
    kept, excluded = select(
        ranked(hit(1, sameness="x"), hit(2, sameness="x"), hit(3), hit(4)), 10, 1500, 1.0, ten
    )
    assert order(kept) == [1, 3, 4] and excluded == {"same_value": 1}


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("Billing runs in Bern.", "The billing runs in Bern!", 1),
        ("Releases go out on Tuesdays.", "Releases do not go out on Tuesdays.", 2),
        ("The limit is 40 requests a minute.", "The limit is 60 requests a minute.", 2),
        ("Mill four delivers paper.", "Mill five delivers paper.", 2),
    ],
)
def test_select__nearly_the_same_words__one_stays_unless_something_differs(one: str, other: str, kept: int):
    rows = ranked(hit(1, content=one, text=0.5, source="a"), hit(2, content=other, text=0.495, source="b"))
    found, excluded = select(rows, 10, 1500, 0.5, ten)
    assert len(found) == kept and excluded == ({"same_value": 1} if kept == 1 else {})


def test_select__token_budget__skips_what_does_not_fit():
    sizes = {1: 80, 2: 30, 3: 20}
    rows = ranked(hit(1), hit(2), hit(3))
    kept, excluded = select(rows, 10, 100, 1.0, lambda one: sizes[one.id.int])
    assert order(kept) == [1, 3] and excluded == {"token_budget": 1}


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.sampled_from([None, "x", "y"])), max_size=30),
    st.integers(1, 12), st.integers(0, 300), st.sampled_from([0.1, 0.5, 1.0]),
)  # fmt: skip
def test_select__any_input__limits_hold_and_all_are_counted(
    rows: list[tuple[str, int, str | None]], limit: int, budget: int, share: float
):
    hits = [hit(n, source=s, sameness=v) for n, (s, _, v) in enumerate(rows)]
    kept, excluded = select(ranked(*hits), limit, budget, share, lambda one: rows[one.id.int][1])
    assert len(kept) <= limit and sum(rows[one.hit.id.int][1] for one in kept) <= budget
    assert len(kept) + sum(excluded.values()) == len(hits)
    if len({h.source for h in hits}) > 1:
        for source in "abc":
            assert sum(one.hit.source == source for one in kept) <= max(1, int(limit * share))

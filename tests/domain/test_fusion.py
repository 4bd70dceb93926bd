from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.fusion import Hit, Scored, fuse, min_max, select
from memory.domain.policy import Policy
from memory.domain.scopes import ScopeKind
from memory.domain.types import Band

RULES = Policy().retrieval
FLAT = RULES.model_copy(
    update={"scope_boost": 0.0, "freshness_boost": 0.0, "trust_boost": 0.0, "pin_boost": 0.0}
)


def hit(number: int, **fields: Any) -> Hit:
    return Hit(**({"id": UUID(int=number), "source": "s1", "tokens": 10} | fields))


def order(scored: list[Scored]) -> list[int]:
    return [one.hit.id.int for one in scored]


def test_min_max__mixed__scales_what_is_present():
    assert min_max([2.0, None, 4.0, 3.0]) == [0.0, 0.0, 1.0, 0.5]
    assert min_max([5.0, 5.0, None]) == [1.0, 1.0, 0.0]
    assert min_max([None]) == [0.0]


def test_fuse__text_and_vector__count_half_each():
    hits = [hit(1, text_score=10.0, vector_score=0.2), hit(2, text_score=0.0, vector_score=0.8),
            hit(3, text_score=8.0, vector_score=0.7)]  # fmt: skip
    scored = fuse(hits, FLAT)
    assert order(scored) == [3, 2, 1]
    assert scored[0].score == pytest.approx(0.5 * 0.8 + 0.5 * (0.5 / 0.6), abs=1e-5)
    assert scored[0].parts == {"text": pytest.approx(0.4), "vector": pytest.approx(0.416667)}


def test_fuse__no_vectors_at_all__ranks_by_text():
    assert order(fuse([hit(1, text_score=1.0), hit(2, text_score=3.0)], FLAT)) == [2, 1]


def test_fuse__vector_alone_below_the_floor__is_dropped():
    found = fuse(
        [hit(1, vector_score=0.14), hit(2, vector_score=0.15), hit(3, text_score=1.0, vector_score=0.0)], FLAT
    )
    assert sorted(order(found)) == [2, 3]


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.sampled_from(Band), st.sampled_from(ScopeKind))
def test_fuse__boosts__stay_within_their_bounds_and_explain_the_score(
    text: float, trust: float, pinned: bool, band: Band, kind: ScopeKind
):
    one = hit(1, text_score=text, trust=trust, pinned=pinned, band=band, scope_kind=kind)
    for scored in fuse([one, hit(2, text_score=2.0)], RULES):
        boosts = {k: v for k, v in scored.parts.items() if k not in ("text", "vector", "neighbours")}
        assert all(v <= 0.05 + 1e-9 for v in boosts.values())
        assert scored.score == pytest.approx(sum(scored.parts.values()), abs=1e-5)


def test_fuse__neighbours_in_a_session__lend_part_of_their_score():
    hits = [
        hit(1, text_score=10.0, session="s", position=5),
        hit(2, text_score=1.0, session="s", position=6),
        hit(3, text_score=1.0, session="other", position=6),
        hit(4, text_score=0.0),
    ]
    scored = {one.hit.id.int: one for one in fuse(hits, FLAT)}
    assert scored[2].parts["neighbours"] == pytest.approx(0.4 * 0.5)
    assert "neighbours" not in scored[3].parts and scored[2].score > scored[3].score


def ranked(*hits: Hit) -> list[Scored]:
    return [Scored(one, 1.0 - n / 100) for n, one in enumerate(hits)]


def test_select__one_loud_source__gets_at_most_its_share():
    loud = [hit(n, source="loud") for n in range(20)]
    quiet = [hit(100 + n, source="quiet") for n in range(3)]
    kept, excluded = select(ranked(*loud, *quiet), 10, 1500, 0.5)
    sources = [one.hit.source for one in kept]
    assert (sources.count("loud"), sources.count("quiet")) == (5, 3)
    assert excluded == {"source_share": 15}


def test_select__one_source_in_all__is_not_cut():
    kept, excluded = select(ranked(*[hit(n) for n in range(12)]), 10, 1500, 0.5)
    assert len(kept) == 10 and excluded == {"limit": 2}


def test_select__limit_of_one__still_gives_one():
    kept, _ = select(ranked(hit(1, source="a"), hit(2, source="b")), 1, 1500, 0.5)
    assert order(kept) == [1]


def test_select__same_value_twice__keeps_the_better():
    kept, excluded = select(ranked(hit(1, sameness="x"), hit(2, sameness="x"), hit(3), hit(4)), 10, 1500, 1.0)
    assert order(kept) == [1, 3, 4] and excluded == {"same_value": 1}


def test_select__token_budget__skips_what_does_not_fit():
    kept, excluded = select(ranked(hit(1, tokens=80), hit(2, tokens=30), hit(3, tokens=20)), 10, 100, 1.0)
    assert order(kept) == [1, 3] and excluded == {"token_budget": 1}


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.sampled_from([None, "x", "y"])), max_size=30),
    st.integers(1, 12), st.integers(0, 300), st.sampled_from([0.1, 0.5, 1.0]),
)  # fmt: skip
def test_select__any_input__limits_hold_and_all_are_counted(
    rows: list[tuple[str, int, str | None]], limit: int, budget: int, share: float
):
    hits = [hit(n, source=s, tokens=t, sameness=v) for n, (s, t, v) in enumerate(rows)]
    kept, excluded = select(ranked(*hits), limit, budget, share)
    assert len(kept) <= limit and sum(one.hit.tokens for one in kept) <= budget
    assert len(kept) + sum(excluded.values()) == len(hits)
    if len({h.source for h in hits}) > 1:
        for source in "abc":
            assert sum(one.hit.source == source for one in kept) <= max(1, int(limit * share))

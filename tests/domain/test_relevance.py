"""Relevance as columns of numbers, against the formulas written out row by row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.policy import Policy
from memory.domain.relevance import Candidates, by_word, relevance, shortlist

RULES = Policy().retrieval
ID = np.dtype([("high", ">u8"), ("low", ">u8")])


def rows(
    counts: list[list[int]],
    *,
    lengths: list[int] | None = None,
    cosine: list[float] | None = None,
    **columns: list[int],
) -> Candidates:
    number = len(counts)
    zeros = [0] * number
    return Candidates(
        ids=np.array([(0, at) for at in range(number)], dtype=ID),
        reason=np.array(columns.get("reason", zeros)),
        term_count=np.array(lengths or [8] * number),
        counts=np.array(counts, dtype=np.int64).reshape(number, len(counts[0]) if counts else 0),
        cosine=np.array(cosine) if cosine is not None else None,
        source=np.array(columns.get("source", zeros)),
        run=np.array(columns.get("run", zeros)),
    )


def bm25(counts: list[list[int]], lengths: list[int]) -> list[float]:
    """The textbook's formula, one row and one term after another."""
    number, average = len(counts), sum(lengths) / len(lengths)
    scores = []
    for row, length in zip(counts, lengths, strict=True):
        score = 0.0
        for term, times in enumerate(row):
            holding = sum(other[term] > 0 for other in counts)
            weight = math.log(1 + (number - holding + 0.5) / (holding + 0.5))
            score += weight * times * 1.9 / (times + 0.9 * (0.6 + 0.4 * length / average))
        scores.append(score)
    return scores


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 7), min_size=3, max_size=3), st.integers(1, 50)), min_size=1, max_size=12
    )
)  # fmt: skip
def test_relevance__text__is_bm25_of_the_textbook(drawn: list[tuple[list[int], int]]):
    counts, lengths = [row for row, _ in drawn], [length for _, length in drawn]
    expected = bm25(counts, lengths)
    found = relevance(rows(counts, lengths=lengths), RULES)
    top = max(expected) or 1.0
    assert found.text.tolist() == pytest.approx([0.5 * score / top for score in expected])


def test_relevance__excluded_rows__do_not_move_any_score():
    one = relevance(rows([[1, 0], [0, 1], [1, 1]], cosine=[0.2, 0.6, 0.4]), RULES)
    other = relevance(
        rows([[1, 0], [0, 1], [1, 1], [7, 7]], cosine=[0.2, 0.6, 0.4, 0.9], reason=[0, 0, 0, 2]), RULES
    )
    assert other.score[:3].tolist() == pytest.approx(one.score.tolist())
    assert 3 not in other.places


def test_relevance__cosine__is_scaled_between_the_farthest_and_the_nearest():
    found = relevance(rows([[]] * 3, cosine=[0.4, 0.8, 0.5]), RULES)
    assert found.vector.tolist() == pytest.approx([0.0, 0.5, 0.125])
    assert found.places.tolist() == [1, 2, 0]


def test_relevance__row_without_a_comparable_vector__found_by_its_words():
    found = relevance(rows([[0], [1]], cosine=[0.9, math.nan]), RULES)
    assert sorted(found.places.tolist()) == [0, 1] and found.vector[1] == 0.0


@pytest.mark.parametrize(
    ("counts", "cosine", "good"),
    [
        ([1, 0, 0, 0, 0], 0.24, False),  # one common word of five, and no likeness
        ([1, 0, 0, 0, 0], 0.25, True),
        ([0, 0, 1, 0, 0], 0.0, True),  # one rare word
        ([0, 0, 0, 0, 0], 0.24, False),
        ([0, 0, 0, 0, 0], 0.25, True),
    ],
)
def test_relevance__floors__nothing_rather_than_noise(counts: list[int], cosine: float, good: bool):
    others = [[1, 1, 0, 0, 0]] * 100
    found = relevance(rows([counts, *others], cosine=[cosine, *[0.0] * 100]), RULES)
    assert (0 in found.places) is good
    assert found.below_floor == 101 - len(found.places)


def test_relevance__neighbours_in_a_session__lend_part_of_their_score():
    drawn = rows([[0], [1], [0], [0], [0]], run=[7, 7, 7, 8, 0])
    found = relevance(drawn, RULES)
    assert found.near.tolist() == pytest.approx([0.3, 0.0, 0.3, 0.0, 0.0])
    assert found.places.tolist() == [1, 2, 0]
    assert relevance(drawn, RULES.model_copy(update={"neighbour_share": 0.0})).places.tolist() == [1]


def test_relevance__order_of_ids__is_the_order_of_a_session():
    drawn = rows([[0], [0], [1], [0]], run=[7] * 4)
    shuffled = Candidates(
        ids=drawn.ids[[2, 0, 3, 1]], reason=drawn.reason, term_count=drawn.term_count, cosine=None,
        counts=drawn.counts[[2, 0, 3, 1]], source=drawn.source, run=drawn.run,
    )  # fmt: skip
    by_id = {int(shuffled.ids[at]["low"]): value for at, value in enumerate(relevance(shuffled, RULES).near)}
    assert by_id == pytest.approx({0: 0.15, 1: 0.3, 2: 0.0, 3: 0.3})


def test_relevance__neighbours__the_better_of_two_lends_what_it_stands_out_by():
    cosine = [0.9, 0.6, 0.7, 0.5, 0.5, 0.5]
    found = relevance(rows([[]] * 6, cosine=cosine, run=[7, 7, 7, 0, 0, 0]), RULES)
    scaled = [0.5 * (one - 0.5) / 0.4 for one in cosine]
    typical = (scaled[1] + scaled[5]) / 2
    best, middle, second = (scaled[at] - typical for at in range(3))
    lent = [0.6 * middle + 0.3 * second, 0.6 * best, 0.6 * middle + 0.3 * best]
    assert found.near.tolist() == pytest.approx([*lent, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("number", [0, 1])
def test_relevance__hardly_any_rows__no_error(number: int):
    for counts in ([[]] * number, [[0]] * number, [[1]] * number):
        found = relevance(rows(counts, cosine=[0.5] * number), RULES)
        assert len(found.places) == number


def drawn_sources(sources: list[int]) -> Any:
    drawn = rows([[1]] * len(sources), lengths=list(range(5, 5 + len(sources))), source=sources)
    return drawn, relevance(drawn, RULES)


def test_shortlist__one_loud_source__others_are_still_looked_at():
    drawn, found = drawn_sources([1] * 100 + [2, 3])
    listed = shortlist(drawn, found, 30, 5)
    assert listed.tolist()[:30] == found.places.tolist()[:30]
    assert set(listed.tolist()[30:]) == {100, 101}


def test_shortlist__many_sources_or_few_rows__only_the_best():
    drawn, found = drawn_sources(list(range(100)))
    assert shortlist(drawn, found, 30, 5).tolist() == found.places.tolist()[:30]
    drawn, found = drawn_sources([1] * 20)
    assert len(shortlist(drawn, found, 30, 5)) == 20


def test_by_word__several_terms_of_one_word__count_once():
    found = rows([[1, 0, 2], [2, 3, 0], [0, 0, 0]])
    assert by_word(found, [2, 1]).counts.tolist() == [[1, 2], [3, 0], [0, 0]]
    assert by_word(replace(found, counts=found.counts[:0]), [2, 1]).counts.shape == (0, 2)
    same = relevance(by_word(rows([[1, 1], [0, 1]]), [2]), RULES)
    assert same.text.tolist() == relevance(rows([[1], [1]]), RULES).text.tolist(), (
        "a word twice stemmed is one"
    )

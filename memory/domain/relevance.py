"""Relevance of search candidates to a query: BM25, cosine, their fusion, and what neighbours lend.

Works on columns of numbers, one place per candidate, that the search brings.  No search and no filters: what may not
be read never gets here, so that no score depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.domain.policy_keep_rules import Retrieval

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Those of Anserini (Trotman and others 2014): for short texts better than 1.2 and 0.75.
_K1: Final = 0.9
_B: Final = 0.4


@dataclass(frozen=True, slots=True)
class Candidates:
    """Readable rows as columns.  `reason` is 0 for a row that passed the filters."""

    ids: NDArray[np.void]
    """The 16 bytes of each id, as the database sorts them: a later row has a larger one."""
    reason: Whole
    term_count: Whole
    counts: Whole
    """One row per candidate, one column per query term: how often the term occurs.  Quickest with columns in one piece
    each."""
    cosine: Floats | None
    """NaN for a row without a comparable vector; None when the query has none."""
    source: Whole
    run: Whole
    """Which session of which scope wrote it, for rows that have neighbours; 0 for the others."""
    total: int | None = None
    """How many readable rows there are, where these are only the likeliest of them."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scores of the candidates that are good enough, by place, and the places from the best on."""

    places: Whole
    text: Floats
    vector: Floats
    near: Floats
    below_floor: int
    """Rows that passed the filters and answer the query by neither words nor meaning."""

    @property
    def score(self) -> Floats:
        """The fused score with what neighbours lend, before boosts."""
        return self.text + self.vector + self.near


def by_word(found: Candidates, ways: Sequence[int]) -> Candidates:
    """Counts by word instead of by term, where several terms stand for one word: `ways` says how many for each.

    A text that holds two of them holds the word once: the larger count is its count.
    """
    starts = np.cumsum([0, *ways[:-1]])
    return replace(found, counts=np.maximum.reduceat(found.counts, starts, axis=1))


def relevance(found: Candidates, rules: Retrieval) -> Relevance:
    """Weigh the candidates: text_weight·BM25 + vector_weight·cosine, each scaled to 0…1 over what may be read.

    A row is good enough when it holds a fair share of the query's words, by what they weigh (`text_floor`), when its
    meaning is close (`similarity_floor`), or when a good neighbour of its session lends it a score.
    """
    able = found.reason == 0
    bm25, share = _bm25(found, able)
    text = rules.text_weight * (bm25 / bm25.max() if bm25.any() else bm25)
    vector = rules.vector_weight * _scaled(found.cosine, able)
    good = able & (bm25 > 0) & (share >= rules.text_floor)
    if found.cosine is not None:
        good |= able & (found.cosine >= rules.similarity_floor)  # no number is at least anything
    fused = text + vector
    near = _lent(found, fused, good, able, rules)
    good |= near > 0
    places = _best_first(fused + near, np.flatnonzero(good), found)
    return Relevance(places, text, vector, near, int(able.sum()) - len(places))


def _best_first(score: Floats, places: Whole, found: Candidates) -> Whole:
    """The places by score; of equals the newest first."""
    scores = score[places]
    order = np.argsort(scores)[::-1]
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1]).any():  # rarely: to sort by three keys takes three times as long
        ids = found.ids[places]
        order = np.lexsort((ids["low"], ids["high"], scores))[::-1]
    return places[order]


def _bm25(found: Candidates, able: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """BM25 of each row, and the share of the query's weight that its words are; both 0 for excluded rows."""
    counts = np.where(able[:, None], found.counts, 0.0)
    rows = int(able.sum())
    if not rows or not counts.any():
        return np.zeros(len(able)), np.zeros(len(able))
    present = counts > 0
    frequency = present.sum(axis=0)
    weight = np.log1p((max(rows, found.total or 0) - frequency + 0.5) / (frequency + 0.5))
    average = max(1.0, float(found.term_count[able].mean()))
    length = _K1 * (1 - _B + _B * found.term_count / average)
    score = (counts * (_K1 + 1) / (counts + length[:, None])) @ weight
    # Of few rows all words are common: the one keeps what is in hand from being worth next to nothing.
    return score, (present @ (weight + 1)) / (weight + 1).sum()


def _scaled(values: Floats | None, able: NDArray[np.bool_]) -> Floats:
    """Scaled to 0…1 over the rows that have a value; absent counts 0, and where all are equal each counts 1."""
    if values is None:
        return np.zeros(len(able))
    present = able & (values == values)  # what is no number does not equal itself
    having = values[present]
    if not len(having):
        return np.zeros(len(able))
    low, high = float(having.min()), float(having.max())
    return np.where(present, (values - low) / (high - low) if low < high else 1.0, 0.0)


def _typical(fused: Floats, able: NDArray[np.bool_]) -> float:
    """The score of a row that has nothing to do with the query: the median."""
    return float(np.median(fused[able])) if able.any() else 0.0


def _lent(
    found: Candidates, fused: Floats, good: NDArray[np.bool_], able: NDArray[np.bool_], rules: Retrieval
) -> Floats:
    """What each row gets from those written just before and after it in its session, and from the next two: a share of
    how far they stand out, of the better one of each two.  To stand between two that are neither good nor bad says
    nothing.
    """
    lent = np.zeros(len(able))
    members = np.flatnonzero(able & (found.run != 0))
    if not len(members):
        return lent
    above = np.where(good, fused - _typical(fused, able), 0.0)
    ids, runs = found.ids[members], found.run[members]
    order = members[np.lexsort((ids["low"], ids["high"], runs))]
    run, lends = found.run[order], np.maximum(above[order], 0.0)
    gains = np.zeros(len(order))
    for distance, share in ((1, rules.neighbour_share), (2, rules.second_neighbour_share)):
        same = run[distance:] == run[:-distance]
        before, after = np.zeros(len(order)), np.zeros(len(order))
        before[distance:] = lends[:-distance] * same
        after[:-distance] = lends[distance:] * same
        gains += share * np.maximum(before, after)
    lent[order] = gains
    return lent


def shortlist(found: Candidates, ranked: Relevance, size: int, places_each: int) -> Whole:
    """The places to look at more closely, from the best on: the first `size`, and beyond them the best of sources
    that the loud ones would otherwise crowd out, each with at most `places_each`."""
    first = ranked.places[:size]
    sources = found.source[ranked.places]
    if len(ranked.places) <= size or (sources == sources[0]).all():
        return first
    if len(set(sources[:size].tolist())) * places_each >= size:
        return first
    by_source = np.argsort(sources, kind="stable")
    starts = np.flatnonzero(np.diff(sources[by_source], prepend=sources[by_source[0]] - 1))
    nth = np.empty(len(sources), dtype=np.int64)
    nth[by_source] = np.arange(len(sources)) - np.repeat(starts, np.diff(starts, append=len(sources)))
    beyond = ranked.places[size:][nth[size:] < places_each]
    return np.concatenate((first, beyond[:size]))

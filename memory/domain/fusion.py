"""Ranking what the search found relevant: boosts within bounds, and the limits of a result.

No search, no filters: what may not be read never gets here.  How relevant a row is, `memory.domain.relevance` says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from uuid import UUID

from memory.domain.left_out import NOT_NAMED, LeftOut
from memory.domain.policy_keep_rules import Retrieval
from memory.domain.scopes import WIDTH, ScopeKind
from memory.domain.similarity import judge
from memory.domain.text import terms
from memory.domain.types import Band

_BAND_WORTH = {Band.FRESH: 1.0, Band.AGING: 0.5, Band.OUTDATED: 0.0}
_WIDEST = max(WIDTH.values())
# Texts that say the same are about as relevant: only such pairs are compared by their words.
_AS_RELEVANT: Final = 0.02


@dataclass(slots=True)
class Hit:
    """One relevant row with the parts of its relevance, each already weighed."""

    id: UUID
    source: Hashable
    text: float = 0.0
    vector: float = 0.0
    neighbours: float = 0.0
    scope_kind: ScopeKind = ScopeKind.PROJECT
    band: Band = Band.FRESH
    trust: float = 0.5
    pinned: bool = False
    sameness: Hashable = None
    """Equal for rows that say the same: (subject, predicate, value hash), or the hash of free text."""
    content: str = ""
    place: int = 0
    """Where its row is among those that were read."""


@dataclass(slots=True)
class Scored:
    """A hit with its score and the parts that add up to it."""

    hit: Hit
    score: float
    weighed: dict[str, float] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, float]:
        """The parts that count, for the explanation."""
        return {name: round(part, 6) for name, part in self.weighed.items() if part}


def boosted(hits: Sequence[Hit], rules: Retrieval) -> list[Scored]:
    """Best first: the relevance and its boosts.

    A boost never adds more than its policy number, so that relevance leads.  Ties are broken by id, newest first.
    """
    scored = []
    for hit in hits:
        parts = {
            "text": hit.text,
            "vector": hit.vector,
            "neighbours": hit.neighbours,
            "scope": rules.scope_boost * (1 - WIDTH[hit.scope_kind] / _WIDEST),
            "freshness": rules.freshness_boost * _BAND_WORTH[hit.band],
            "trust": rules.trust_boost * hit.trust,
            "pin": rules.pin_boost if hit.pinned else 0.0,
        }
        scored.append(Scored(hit, round(sum(parts.values()), 6), parts))
    return sorted(scored, key=lambda one: (one.score, one.hit.id.int), reverse=True)


def select(
    scored: Sequence[Scored],
    limit: int,
    max_tokens: int,
    max_share: float,
    size: Callable[[Hit], int],
    left: LeftOut = NOT_NAMED,
) -> tuple[list[Scored], dict[str, int]]:
    """Walk from the best and keep what the limits allow; the rest is counted by the limit that excluded it, and noted
    on `left`.  `size` is asked for the tokens of those that have got so far.

    Reasons: same_value (a better hit says the same), source_share, token_budget, limit. One source gets at
    most `max_share` of the limit (at least one place), unless everything found comes from one source: then
    there is nobody to crowd out.
    """
    places = max(1, int(limit * max_share))
    if len({one.hit.source for one in scored}) <= 1:
        places = limit
    kept: list[Scored] = []
    excluded: dict[str, int] = {}
    seen: set[Hashable] = set()
    taken: dict[Hashable, int] = {}
    tokens = 0
    for one in scored:
        hit = one.hit
        reason, its_tokens = None, 0
        if hit.sameness is not None and hit.sameness in seen:
            reason = "same_value"
        elif len(kept) >= limit:
            reason = "limit"
        elif _said_by(kept, hit):
            reason = "same_value"
        elif taken.get(hit.source, 0) >= places:
            reason = "source_share"
        elif tokens + (its_tokens := size(hit)) > max_tokens:
            reason = "token_budget"
        if reason:
            excluded[reason] = excluded.get(reason, 0) + 1
            left.note(reason, (hit.id,))
            continue
        kept.append(one)
        seen.add(hit.sameness)
        taken[hit.source] = taken.get(hit.source, 0) + 1
        tokens += its_tokens
    return kept, excluded


def _said_by(better: Sequence[Scored], hit: Hit) -> bool:
    """Whether one of those that are about as relevant says the same."""
    text, vector = hit.text, hit.vector
    for one in better:
        other = one.hit
        if abs(text - other.text) > _AS_RELEVANT or abs(vector - other.vector) > _AS_RELEVANT:
            continue
        if _say_the_same(hit, other):
            return True
    return False


def _say_the_same(one: Hit, other: Hit) -> bool:
    """Whether two texts state one fact in the same words; numbers, negation and names keep them apart."""
    if not one.content or _words(one.content) != _words(other.content):
        return False
    return judge(one.content, other.content, None).verdict == "same"


@lru_cache(maxsize=4096)
def _words(content: str) -> frozenset[str]:
    return frozenset(terms(content))

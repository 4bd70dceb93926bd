"""Ranking: text and vector scores fused into one, boosts within bounds, and the limits of a result.

Works on scores that the search brings. No search, no filters: what may not be read never gets here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.domain.policy_keep_rules import Retrieval
from memory.domain.scopes import WIDTH, ScopeKind
from memory.domain.types import Band

_BAND_WORTH = {Band.FRESH: 1.0, Band.AGING: 0.5, Band.OUTDATED: 0.0}
_WIDEST = max(WIDTH.values())


@dataclass(frozen=True, slots=True)
class Hit:
    """One found row. A score that a search did not give is None; cosine is −1 to 1, BM25 at least 0."""

    id: UUID
    source: Hashable
    text_score: float | None = None
    vector_score: float | None = None
    scope_kind: ScopeKind = ScopeKind.PROJECT
    band: Band = Band.FRESH
    trust: float = 0.5
    pinned: bool = False
    sameness: Hashable = None
    """Equal for rows that say the same: (subject, predicate, value hash), or the hash of free text."""
    tokens: int = 0
    session: str | None = None
    position: int | None = None
    """Order of writing within the session, for episodic rows."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A hit with its score and the parts that add up to it, for the explanation."""

    hit: Hit
    score: float
    parts: dict[str, float] = field(default_factory=dict)


def min_max(values: Sequence[float | None]) -> list[float]:
    """Scaled to 0…1 over what is present; absent counts 0, and where all are equal each counts 1."""
    present = [value for value in values if value is not None]
    if not present:
        return [0.0] * len(values)
    low, high = min(present), max(present)
    span = high - low
    return [0.0 if v is None else 1.0 if span == 0 else (v - low) / span for v in values]


def fuse(hits: Sequence[Hit], rules: Retrieval) -> list[Scored]:
    """Best first. fused = text_weight·minmax(text) + vector_weight·minmax(vector), and then
    neighbours and boosts.

    Hits found by their vector alone and below the similarity floor are dropped. A boost never adds more than
    its policy number, so that relevance leads. Ties are broken by id, newest first.
    """
    able = [hit for hit in hits if _similar_enough(hit, rules)]
    texts = min_max([hit.text_score for hit in able])
    vectors = min_max([hit.vector_score for hit in able])
    scored = []
    neighbours = _neighbour_scores(
        able,
        [rules.text_weight * t + rules.vector_weight * v for t, v in zip(texts, vectors, strict=True)],
        rules,
    )
    for hit, text, vector, near in zip(able, texts, vectors, neighbours, strict=True):
        parts = {"text": rules.text_weight * text, "vector": rules.vector_weight * vector, "neighbours": near}
        parts |= _boosts(hit, rules)
        shown = {name: round(part, 6) for name, part in parts.items() if part}
        scored.append(Scored(hit, round(sum(parts.values()), 6), shown))
    return sorted(scored, key=lambda one: (one.score, one.hit.id.int), reverse=True)


def _similar_enough(hit: Hit, rules: Retrieval) -> bool:
    if hit.text_score is not None:
        return True
    return hit.vector_score is not None and hit.vector_score >= rules.similarity_floor


def _boosts(hit: Hit, rules: Retrieval) -> dict[str, float]:
    return {
        "scope": rules.scope_boost * (1 - WIDTH[hit.scope_kind] / _WIDEST),
        "freshness": rules.freshness_boost * _BAND_WORTH[hit.band],
        "trust": rules.trust_boost * hit.trust,
        "pin": rules.pin_boost if hit.pinned else 0.0,
    }


def _neighbour_scores(hits: Sequence[Hit], fused: Sequence[float], rules: Retrieval) -> list[float]:
    """What each hit gains from those written just before and after it in the same session."""
    at = {
        (hit.session, hit.position): score
        for hit, score in zip(hits, fused, strict=True)
        if hit.session is not None and hit.position is not None
    }
    shares = {1: rules.neighbour_share, 2: rules.second_neighbour_share}
    gains = []
    for hit in hits:
        gain = 0.0
        if hit.session is not None and hit.position is not None:
            for distance, share in shares.items():
                for position in (hit.position - distance, hit.position + distance):
                    gain += share * at.get((hit.session, position), 0.0)
        gains.append(gain)
    return gains


def select(
    scored: Sequence[Scored], limit: int, max_tokens: int, max_share: float
) -> tuple[list[Scored], dict[str, int]]:
    """Walk from the best and keep what the limits allow; the rest is counted by the limit that excluded it.

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
        reason = None
        if hit.sameness is not None and hit.sameness in seen:
            reason = "same_value"
        elif len(kept) >= limit:
            reason = "limit"
        elif taken.get(hit.source, 0) >= places:
            reason = "source_share"
        elif tokens + hit.tokens > max_tokens:
            reason = "token_budget"
        if reason:
            excluded[reason] = excluded.get(reason, 0) + 1
            continue
        kept.append(one)
        seen.add(hit.sameness)
        taken[hit.source] = taken.get(hit.source, 0) + 1
        tokens += hit.tokens
    return kept, excluded

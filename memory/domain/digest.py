"""The digest: the bounded view of a scope for a prompt: fresh first, aging below and marked, outdated out.

Building the text only. Which rows are offered is decided by selectors; caching and ETags are elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from memory.domain.freshness import band
from memory.domain.injection import REFERENCE_ONLY, escape
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule
from memory.domain.tokens import TOKEN_RULE, count_tokens
from memory.domain.types import Band, Kind

__all__ = ["TOKEN_RULE", "Digest", "DigestEntry", "build_digest", "count_tokens", "render_digest"]

DIGEST_TAG: Final = "memory-digest"
FRESH_HEADING: Final = "Known:"
AGING_HEADING: Final = "Older, verify before relying on it:"
_OPENING: Final = f'<{DIGEST_TAG} note="{REFERENCE_ONLY}">'
_CLOSING: Final = f"</{DIGEST_TAG}>"


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """One readable row as the digest sees it."""

    id: UUID
    version: int
    content: str
    learned_at: datetime
    kind: Kind = Kind.FACT
    rule: PredicateRule | None = None
    confidence: float = 0.7
    importance: float = 0.7
    pinned: bool = False
    contested: bool = False
    clash: Hashable = None
    """Equal for contested values of one key: they are shown together or not at all."""
    rivals: tuple[UUID, ...] = ()
    """The other values that it is shown with."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The text, what stands in it, and how many were left out by reason: outdated, token_budget."""

    text: str
    fresh: tuple[DigestEntry, ...]
    aging: tuple[DigestEntry, ...]
    left_out: dict[str, int]
    tokens: int
    unseen: dict[str, tuple[UUID, ...]]
    """The ids behind `left_out`."""


def line_of(entry: DigestEntry) -> str:
    """`- content (mem~1a2b3c4d, learned 2026-08-01)` on one line; the store knows its own line by the mark."""
    learned = entry.learned_at.astimezone(UTC).strftime("%Y-%m-%d")
    said = escape(" ".join(entry.content.split()))
    return f"- {said}{_dispute(entry)} ({_mark(entry.id)}, learned {learned})"


def _mark(memory_id: UUID) -> str:
    return f"mem~{memory_id.hex[-8:]}"


def _dispute(entry: DigestEntry) -> str:
    """The warning at a value that is not settled."""
    if not entry.contested:
        return ""
    if not entry.rivals:
        return " (contested: another value is claimed too)"
    says = "says" if len(entry.rivals) == 1 else "say"
    return f" (contested: {', '.join(map(_mark, entry.rivals))} {says} otherwise)"


def _by_weight(entry: DigestEntry) -> tuple[bool, float, float, str]:
    return (
        not entry.pinned,
        -entry.importance * entry.confidence,
        -entry.learned_at.timestamp(),
        entry.id.hex,
    )


Group = tuple[DigestEntry, ...]


def build_digest(
    entries: Iterable[DigestEntry], now: datetime, policy: Policy, max_tokens: int | None = None
) -> Digest:
    """Pinned first, then by importance × confidence, then the newest; only whole entries, within the budget.

    A pinned row never falls out by age: once outdated it stands among the aging ones. Contested values of one key
    stand together at the place of the strongest, among the aging ones if one of them is aging. What does not fit
    is left out and smaller ones after it may still enter; aging entries take what the fresh ones leave.
    """
    budget = policy.digest.max_tokens if max_tokens is None else max_tokens
    bands: dict[Band, list[DigestEntry]] = {Band.FRESH: [], Band.AGING: [], Band.OUTDATED: []}
    for entry in sorted(entries, key=_by_weight):
        found = band(entry.kind, entry.rule, entry.learned_at, now, policy)
        bands[Band.AGING if found is Band.OUTDATED and entry.pinned else found].append(entry)
    fresh_groups, aging_groups = _together(bands[Band.FRESH], bands[Band.AGING])
    used = count_tokens(_OPENING) + count_tokens(_CLOSING)
    fresh, used = _fit(fresh_groups, FRESH_HEADING, used, budget)
    aging, used = _fit(aging_groups, AGING_HEADING, used, budget)
    shown = {entry.id for entry in (*fresh, *aging)}
    able = (*bands[Band.FRESH], *bands[Band.AGING])
    left = {
        "outdated": tuple(entry.id for entry in bands[Band.OUTDATED]),
        "token_budget": tuple(entry.id for entry in able if entry.id not in shown),
    }
    unseen = {reason: ids for reason, ids in left.items() if ids}
    left_out = {reason: len(ids) for reason, ids in unseen.items()}
    if not shown:
        return Digest("", (), (), left_out, 0, unseen)
    return Digest(render_digest(fresh, aging), tuple(fresh), tuple(aging), left_out, used, unseen)


def _together(fresh: Sequence[DigestEntry], aging: Sequence[DigestEntry]) -> tuple[list[Group], list[Group]]:
    """Both bands as groups: contested values of one key in one group, everything else alone."""
    clashing: dict[Hashable, list[DigestEntry]] = {}
    for entry in sorted((*fresh, *aging), key=_by_weight):
        if entry.clash is not None:
            clashing.setdefault(entry.clash, []).append(entry)
    older = {entry.id for entry in aging}
    groups: tuple[list[Group], list[Group]] = ([], [])
    for entry in sorted((*fresh, *aging), key=_by_weight):
        group = clashing.pop(entry.clash, None) if entry.clash is not None else [entry]
        if group is not None:  # None: it stands with the first of them
            is_aging = any(one.id in older for one in group)
            groups[is_aging].append(_knowing_each_other(group))
    return groups


def _knowing_each_other(group: Sequence[DigestEntry]) -> Group:
    ids = [entry.id for entry in group]
    return tuple(replace(entry, rivals=tuple(other for other in ids if other != entry.id)) for entry in group)


def render_digest(fresh: Sequence[DigestEntry], aging: Sequence[DigestEntry]) -> str:
    """The text of a digest with these entries, in this order."""
    return "\n".join([_OPENING, *_section(FRESH_HEADING, fresh), *_section(AGING_HEADING, aging), _CLOSING])


def _fit(groups: Sequence[Group], heading: str, used: int, budget: int) -> tuple[list[DigestEntry], int]:
    kept: list[DigestEntry] = []
    for group in groups:
        cost = sum(count_tokens(line_of(entry)) for entry in group) + (0 if kept else count_tokens(heading))
        if used + cost <= budget:
            kept.extend(group)
            used += cost
    return kept, used


def _section(heading: str, entries: Sequence[DigestEntry]) -> list[str]:
    return [heading, *map(line_of, entries)] if entries else []

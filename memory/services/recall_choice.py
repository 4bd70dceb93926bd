"""Choosing among what a search found: order, what the stakes forbid, what says the same twice, and the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.domain.freshness import band
from memory.domain.fusion import Hit, boosted, select
from memory.domain.ids import show_id
from memory.domain.injection import BlockEntry, BlockFormat, frame_tokens, render_entry
from memory.domain.left_out import LeftOut
from memory.domain.policy import Policy
from memory.domain.scopes import ScopeKind, parse_scope
from memory.domain.tokens import count_tokens
from memory.domain.types import Band, Kind
from memory.selectors.declared import DECLARED, NOTHING, Declared
from memory.selectors.policies import ActivePolicy
from memory.selectors.recall import Found, Search
from memory.services.working_read import WORKING

RETRIEVED: Final = "retrieved"
"""The channel of what was looked for."""

# To look a kind up costs half of what its class takes to find it.
_KINDS: Final = {str(kind): kind for kind in Kind}
_SCOPE_KINDS: Final = {str(kind): kind for kind in ScopeKind}
# Rows read beyond the limit: boosts may lift one of them, and some say the same twice.
_SPARE = 6
# Limits that more rows could not get around.
_ENDS = ("token_budget", "source_share")


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """What an agent asks at a decision point.  None means: as the policy says."""

    query: str
    session: str = ""
    task: str = ""
    keys: Sequence[str] = ()
    scopes: Sequence[str] | None = None
    layers: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    paths: Sequence[str] = ()
    tags: Sequence[str] = ()
    limit: int | None = None
    max_tokens: int | None = None
    min_trust: float | None = None
    high_stakes: bool = False
    window_days: float | None = None
    format: BlockFormat = "xml"


@dataclass(slots=True)
class Entry:
    """One memory as it was given, with its place and score."""

    found: Found
    band: Band
    score: float
    parts: dict[str, float]
    channel: str = RETRIEVED
    text: str = ""
    """As it stands in the block."""
    tokens: int = 0
    """Of that text."""

    @property
    def shown_id(self) -> str:
        """The id as it is given: that of a memory or of a working value."""
        return shown_id(self.found, self.channel)


def shown_id(row: Found, channel: str) -> str:
    return show_id("wrk" if channel == WORKING else "mem", row.id)


def block_entry(row: Found, its_band: Band, channel: str) -> BlockEntry:
    """A row as the injection block shows it."""
    return BlockEntry(
        id=shown_id(row, channel),
        version=row.version,
        scope=row.scope,
        source=row.source,
        trust=row.trust,
        band=its_band,
        recorded_at=row.recorded_at,
        content=row.content,
    )


def tokens_of(entries: Sequence[Entry], format: BlockFormat) -> int:
    """Of the block of these entries: tokens add up."""
    return frame_tokens(format) + sum([entry.tokens for entry in entries]) if entries else 0


def limit_of(request: RetrieveRequest, policy: Policy) -> int:
    return min(request.limit or policy.retrieval.limit, policy.retrieval.max_limit)


def chosen(
    found: Search,
    request: RetrieveRequest,
    active: ActivePolicy,
    now: datetime,
    left: LeftOut,
    *,
    first: Sequence[Found],
    declared: Declared,
) -> tuple[list[Entry], dict[str, int]]:
    """The entries, and what the limits left out of what was found, by reason, and noted on `left`.

    Rows are read as far as they are needed: more of them only while places stay empty because what was read says the
    same twice, is too old for the stakes, or went away meanwhile.
    """
    limit = limit_of(request, active.policy)
    size = limit + _SPARE
    while True:
        rows = found.rows(size)
        left.begin_anew()
        entries, excluded = _rank(rows, request, active, now, left, first=first, declared=declared)
        unread = found.relevant - len(rows)
        full = len(entries) >= limit or any(reason in excluded for reason in _ENDS)
        if full or unread <= 0 or size >= found.relevant:
            break
        size *= 4
    if unread > 0:
        ended = next((reason for reason in _ENDS if len(entries) < limit and reason in excluded), "limit")
        excluded = summed(excluded, {ended: unread})
        left.note(ended, found.beyond(rows, left.most))
    return entries, excluded


def _rank(
    found: Sequence[Found],
    request: RetrieveRequest,
    active: ActivePolicy,
    now: datetime,
    left: LeftOut,
    *,
    first: Sequence[Found] = (),
    declared: Declared = NOTHING,
) -> tuple[list[Entry], dict[str, int]]:
    """Order, drop what the stakes forbid, and cut to the limits; with what that left out, by reason.

    `first` are working values, asked for by key; then comes what mounts declare, then what was searched, all within
    the same limits.  The budget of tokens bounds the whole block, its frame and labels with it.
    """
    policy = active.policy
    hits = [_hit(row, band_of(row, now, active), place) for place, row in enumerate(found)]
    scored = boosted(hits, policy.retrieval)
    standing = [_standing(row, band_of(row, now, active), DECLARED, request.format) for row in declared.rows]
    excluded = {"limit": len(declared.beyond)}
    left.note("limit", declared.beyond)
    if request.high_stakes:
        fresh = [one for one in scored if one.hit.band is Band.FRESH]
        steady = [entry for entry in standing if entry.band is Band.FRESH]
        excluded["aging"] = len(scored) - len(fresh) + len(standing) - len(steady)
        left.note("aging", [entry.found.id for entry in standing if entry not in steady])
        left.note("aging", [one.hit.id for one in scored if one.hit.band is not Band.FRESH])
        scored, standing = fresh, steady
    limit = limit_of(request, policy)
    tokens = request.max_tokens if request.max_tokens is not None else policy.retrieval.max_tokens
    tokens -= frame_tokens(request.format)
    working = [_standing(row, Band.FRESH, WORKING, request.format) for row in first]
    ahead, cut, spent = _that_fit([*working, *standing], limit, tokens, left)
    said = {_sameness(entry.found) for entry in ahead if entry.channel == DECLARED}
    new = [one for one in scored if one.hit.sameness not in said]
    excluded["same_value"] = len(scored) - len(new)
    left.note("same_value", [one.hit.id for one in scored if one.hit.sameness in said])
    texts = _Texts(found, request.format)
    kept, more = select(
        new, limit - len(ahead), tokens - spent, policy.retrieval.max_source_share, texts.tokens_of, left
    )
    given = [
        Entry(found[one.hit.place], one.hit.band, one.score, one.parts, RETRIEVED, *texts.of(one.hit))
        for one in kept
    ]
    return [*ahead, *given], summed(summed(excluded, more), cut)


class _Texts:
    """The texts of rows as they stand in the block, with their tokens: made when they are asked for."""

    def __init__(self, rows: Sequence[Found], format: BlockFormat) -> None:
        self._rows, self._format = rows, format
        self._made: dict[int, tuple[str, int]] = {}

    def of(self, hit: Hit) -> tuple[str, int]:
        made = self._made.get(hit.place)
        if made is None:
            made = self._made[hit.place] = _rendered(self._rows[hit.place], hit.band, RETRIEVED, self._format)
        return made

    def tokens_of(self, hit: Hit) -> int:
        return self.of(hit)[1]


def _rendered(row: Found, its_band: Band, channel: str, format: BlockFormat) -> tuple[str, int]:
    text = render_entry(block_entry(row, its_band, channel), format)
    return text, count_tokens(text)


def _standing(row: Found, its_band: Band, channel: str, format: BlockFormat) -> Entry:
    """What is given without being looked for."""
    return Entry(row, its_band, 1.0, {}, channel, *_rendered(row, its_band, channel, format))


def _that_fit(
    wanted: Sequence[Entry], limit: int, tokens: int, left: LeftOut
) -> tuple[list[Entry], dict[str, int], int]:
    """The entries that fit, what did not by reason, and the tokens they take."""
    entries: list[Entry] = []
    cut: dict[str, int] = {}
    spent = 0
    for entry in wanted:
        over = spent + entry.tokens > tokens
        reason = "limit" if len(entries) >= limit else "token_budget" if over else ""
        if reason:
            cut[reason] = cut.get(reason, 0) + 1
            left.note(reason, (entry.found.id,), "wrk" if entry.channel == WORKING else "mem")
            continue
        spent += entry.tokens
        entries.append(entry)
    return entries, cut, spent


def summed(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Counts by reason added up, without those that come to nothing."""
    sums = {name: one.get(name, 0) + other.get(name, 0) for name in one | other}
    return {name: count for name, count in sums.items() if count}


def _hit(row: Found, its_band: Band, place: int) -> Hit:
    return Hit(
        id=row.id,
        source=row.source,
        text=row.text,
        vector=row.vector,
        neighbours=row.near,
        scope_kind=_SCOPE_KINDS[row.scope.partition(":")[0]],
        band=its_band,
        trust=row.trust,
        pinned=row.pinned,
        sameness=_sameness(row),
        content=row.content,
        place=place,
    )


def _sameness(row: Found) -> tuple[str, str, bytes]:
    """Equal for rows that say the same."""
    return row.subject, row.predicate, row.value_hash


def band_of(row: Found, now: datetime, active: ActivePolicy) -> Band:
    """The age band of a row under the policy."""
    rule = active.words.registry.lookup(row.predicate) if row.predicate else None
    policy = active.policy.for_scope(parse_scope(row.scope)) if active.policy.scopes else active.policy
    return band(_KINDS[row.kind], rule, row.learned_at, now, policy)

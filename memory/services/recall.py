"""Reading memory: retrieve, digest, and the report of what was used.  Every read leaves a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from random import random
from typing import Any

from memgov import clock
from memgov.ids import new_id
from memory.domain.freshness import band
from memory.domain.fusion import Hit, Scored, boosted, select
from memory.domain.ids import show_id
from memory.domain.injection import BlockEntry, BlockFormat, render_block, text_sha256
from memory.domain.left_out import LeftOut, left_out
from memory.domain.policy import Policy
from memory.domain.scopes import ScopeKind
from memory.domain.text import query_terms
from memory.domain.tokens import count_tokens
from memory.domain.types import Band, Kind
from memory.models import Manifest
from memory.selectors.declared import DECLARED, NOTHING, Declared, declared_found
from memory.selectors.policies import ActivePolicy, policy_for
from memory.selectors.recall import Filters, Found, Search, search
from memory.selectors.visibility import reach_of
from memory.services.embedding import vector_of
from memory.services.working_read import WORKING, working_found, working_kept
from memory.store import manifests
from memory.store.vectors import Vector
from tenants.context import tenant_context
from tenants.principals import Principal

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
    channel: str = "retrieved"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer to a retrieval; the manifest is already stored."""

    manifest: Manifest
    entries: list[Entry]
    excluded: dict[str, int]
    block: str
    text_only: bool = field(default=False)


def memory_retrieve(principal: Principal, request: RetrieveRequest) -> Retrieval:
    """The right few memories for a query, and the manifest of them."""
    now = clock.now()
    vector = vector_of(request.query) if request.query.strip() else None
    active = policy_for(principal)
    with tenant_context(principal.tenant_id):
        filters = _filters(request, active.policy, now, vector)
        reach = reach_of(principal, request.session, request.task)
        declared = declared_found(reach, filters) if active.mounted else NOTHING
        found = search(reach, filters, active.policy.retrieval, without=declared.ids)
        working, unread = working_found(principal, request.task, request.keys, now)
        left = left_out(active.policy.manifests, random())
        entries, excluded = _fill(found, request, active, now, left, first=working, declared=declared)
        excluded = _sum(found.excluded(), _sum(excluded, unread))
        found.note(left)
        block = render_block(map(block_entry, entries), request.format)
        manifest = _manifest(principal, request, active, now, excluded, block)
        manifest.excluded_ids = left.ids
        manifest.working = [working_kept(entry.found) for entry in entries if entry.channel == WORKING]
        manifests.insert(manifest, [_manifest_entry(rank, entry) for rank, entry in enumerate(entries, 1)])
    return Retrieval(manifest, entries, excluded, block, text_only=vector is None)


def _filters(request: RetrieveRequest, policy: Policy, now: datetime, vector: Vector | None) -> Filters:
    rules = policy.retrieval
    least = rules.high_stakes_min_trust if request.high_stakes else rules.min_trust
    return Filters(
        terms=query_terms(request.query),
        vector=vector.values if vector else None,
        model_id=vector.model_id if vector else "",
        now=now,
        min_trust=max(least, request.min_trust or 0.0),
        limit=_limit(request, policy),
        high_stakes=request.high_stakes,
        since=now - timedelta(days=request.window_days) if request.window_days else None,
        only_scopes=request.scopes,
        layers=request.layers,
        kinds=request.kinds,
        tags=request.tags,
        paths=request.paths,
        neighbour_layers=rules.neighbour_layers
        if rules.neighbour_share or rules.second_neighbour_share
        else (),
    )


def _limit(request: RetrieveRequest, policy: Policy) -> int:
    return min(request.limit or policy.retrieval.limit, policy.retrieval.max_limit)


def _fill(
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
    limit = _limit(request, active.policy)
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
        excluded = _sum(excluded, {ended: unread})
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
    the same limits.
    """
    policy = active.policy
    by_id = {row.id: row for row in found}
    bands = {row.id: band_of(row, now, active) for row in found}
    scored = boosted([_hit(row, bands[row.id]) for row in found], policy.retrieval)
    standing = [Entry(row, band_of(row, now, active), 1.0, {}, DECLARED) for row in declared.rows]
    excluded = {"limit": len(declared.beyond)}
    left.note("limit", declared.beyond)
    if request.high_stakes:
        fresh = [one for one in scored if bands[one.hit.id] is Band.FRESH]
        steady = [entry for entry in standing if entry.band is Band.FRESH]
        excluded["aging"] = len(scored) - len(fresh) + len(standing) - len(steady)
        left.note("aging", [entry.found.id for entry in standing if entry not in steady])
        left.note("aging", [one.hit.id for one in scored if bands[one.hit.id] is not Band.FRESH])
        scored, standing = fresh, steady
    limit = _limit(request, policy)
    tokens = request.max_tokens if request.max_tokens is not None else policy.retrieval.max_tokens
    working = [Entry(row, Band.FRESH, 1.0, {}, WORKING) for row in first]
    ahead, cut, spent = _that_fit([*working, *standing], limit, tokens, left)
    said = {_sameness(entry.found) for entry in ahead if entry.channel == DECLARED}
    new = [one for one in scored if one.hit.sameness not in said]
    excluded["same_value"] = len(scored) - len(new)
    left.note("same_value", [one.hit.id for one in scored if one.hit.sameness in said])
    kept, more = select(new, limit - len(ahead), tokens - spent, policy.retrieval.max_source_share, left)
    return [*ahead, *(_entry(one, by_id, bands) for one in kept)], _sum(_sum(excluded, more), cut)


def _that_fit(
    wanted: Sequence[Entry], limit: int, tokens: int, left: LeftOut
) -> tuple[list[Entry], dict[str, int], int]:
    """The entries that fit, what did not by reason, and the tokens they take."""
    entries: list[Entry] = []
    cut: dict[str, int] = {}
    spent = 0
    for entry in wanted:
        cost = count_tokens(entry.found.content)
        reason = "limit" if len(entries) >= limit else "token_budget" if spent + cost > tokens else ""
        if reason:
            cut[reason] = cut.get(reason, 0) + 1
            left.note(reason, (entry.found.id,), "wrk" if entry.channel == WORKING else "mem")
            continue
        spent += cost
        entries.append(entry)
    return entries, cut, spent


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Counts by reason added up, without those that come to nothing."""
    sums = {name: one.get(name, 0) + other.get(name, 0) for name in one | other}
    return {name: count for name, count in sums.items() if count}


def _entry(one: Scored, by_id: dict[Any, Found], bands: dict[Any, Band]) -> Entry:
    return Entry(by_id[one.hit.id], bands[one.hit.id], one.score, one.parts)


def _hit(row: Found, its_band: Band) -> Hit:
    return Hit(
        id=row.id,
        source=row.source,
        text=row.text,
        vector=row.vector,
        neighbours=row.near,
        scope_kind=ScopeKind(row.scope.partition(":")[0]),
        band=its_band,
        trust=row.trust,
        pinned=row.pinned,
        sameness=_sameness(row),
        tokens=count_tokens(row.content),
        content=row.content,
    )


def _sameness(row: Found) -> tuple[str, str, bytes]:
    """Equal for rows that say the same."""
    return row.subject, row.predicate, row.value_hash


def band_of(row: Found, now: datetime, active: ActivePolicy) -> Band:
    """The age band of a row under the policy."""
    rule = active.words.registry.lookup(row.predicate) if row.predicate else None
    return band(Kind(row.kind), rule, row.learned_at, now, active.policy)


def block_entry(entry: Entry) -> BlockEntry:
    """The entry as the injection block shows it."""
    row = entry.found
    return BlockEntry(
        id=show_id("wrk" if entry.channel == WORKING else "mem", row.id),
        version=row.version,
        scope=row.scope,
        source=row.source,
        trust=row.trust,
        band=entry.band,
        recorded_at=row.recorded_at,
        content=row.content,
    )


def _manifest(
    principal: Principal,
    request: RetrieveRequest,
    active: ActivePolicy,
    now: datetime,
    excluded: dict[str, int],
    block: str,
) -> Manifest:
    keep_query = active.policy.retention.store_query_text
    asked = {
        name: getattr(request, name)
        for name in ("keys", "scopes", "layers", "kinds", "paths", "tags", "limit", "max_tokens", "min_trust",
                     "high_stakes", "window_days")
        if getattr(request, name)
    }  # fmt: skip
    return Manifest(
        id=new_id(now),
        kind="retrieve",
        at=now,
        agent_id=principal.agent_id,
        agent_name=principal.name,
        agent_role=principal.role,
        session=request.session,
        task=request.task,
        query_hash=sha256(request.query.encode()).hexdigest(),
        query_text=request.query if keep_query else "",
        request=asked,
        excluded=excluded,
        policy_version=active.number,
        block_format=request.format,  # it is rendered again in the format that it had
        block_digest=text_sha256(block),
        tokens=count_tokens(block),
    )


def _manifest_entry(rank: int, entry: Entry) -> dict[str, Any]:
    return {
        "rank": rank,
        "memory_id": entry.found.id,
        "version": entry.found.version,
        "scope": entry.found.scope,
        "band": entry.band.value,
        "channel": entry.channel,
        "score": entry.score,
        "scores": entry.parts,
        "source": entry.found.source,
        "trust": entry.found.trust,
        "recorded_at": entry.found.recorded_at,
        "learned_at": entry.found.learned_at,
    }


def retrieval_rehearsed(
    principal: Principal, request: RetrieveRequest, active: ActivePolicy, now: datetime, vector: Vector | None
) -> list[Entry]:
    """What the call would be given under a policy, in order; nothing is stored.  Inside the tenant's context.

    Working values are left out: they are asked for by key, whatever the policy says.
    """
    filters = _filters(request, active.policy, now, vector)
    reach = reach_of(principal, request.session, request.task)
    declared = declared_found(reach, filters) if active.mounted else NOTHING
    found = search(reach, filters, active.policy.retrieval, without=declared.ids)
    left = left_out(active.policy.manifests, 1.0)
    entries, _ = _fill(found, request, active, now, left, first=(), declared=declared)
    return entries

"""Reading memory: retrieve, digest, and the report of what was used.  Every read leaves a manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from random import random
from typing import Any

from memgov import clock
from memgov.ids import new_id
from memory.domain.injection import framed, text_sha256
from memory.domain.left_out import left_out
from memory.domain.policy import Policy
from memory.domain.search_terms import asked
from memory.models import Manifest
from memory.selectors.declared import NOTHING, declared_found
from memory.selectors.policies import ActivePolicy, policy_for
from memory.selectors.recall import Filters, search
from memory.selectors.visibility import reach_of
from memory.services.embedding import vector_of
from memory.services.recall_choice import Entry, RetrieveRequest, chosen, limit_of, summed, tokens_of
from memory.services.working_read import WORKING, working_found, working_kept
from memory.store import manifests
from memory.store.vectors import Vector
from tenants.context import tenant_context
from tenants.principals import Principal

__all__ = ["Entry", "Retrieval", "RetrieveRequest", "memory_retrieve", "retrieval_rehearsed"]


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
        entries, excluded = chosen(found, request, active, now, left, first=working, declared=declared)
        excluded = summed(found.excluded(), summed(excluded, unread))
        found.note(left)
        block = framed([entry.text for entry in entries], request.format)
        manifest = _manifest(principal, request, active, now, excluded, block)
        manifest.tokens = tokens_of(entries, request.format)
        manifest.excluded_ids = left.ids
        manifest.working = [working_kept(entry.found) for entry in entries if entry.channel == WORKING]
        manifests.insert(manifest, [_manifest_entry(rank, entry) for rank, entry in enumerate(entries, 1)])
    return Retrieval(manifest, entries, excluded, block, text_only=vector is None)


def _filters(request: RetrieveRequest, policy: Policy, now: datetime, vector: Vector | None) -> Filters:
    rules = policy.retrieval
    words = asked(request.query, rules.languages)
    least = rules.high_stakes_min_trust if request.high_stakes else rules.min_trust
    return Filters(
        terms=[term for ways in words for term in ways],
        ways=[len(ways) for ways in words] if any(len(ways) > 1 for ways in words) else (),
        vector=vector.values if vector else None,
        model_id=vector.model_id if vector else "",
        now=now,
        min_trust=max(least, request.min_trust or 0.0),
        limit=limit_of(request, policy),
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
    entries, _ = chosen(found, request, active, now, left, first=(), declared=declared)
    return entries

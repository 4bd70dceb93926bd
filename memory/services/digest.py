"""The digest of a scope: the bounded text that a prompt starts with, built from what is live right now.

It is built at each read, so that nothing can make it stale; the ETag lets a reader keep what has not changed.  The tag
is that of one session: another session that shows the same text gets a manifest of its own, or an echo of the text
would look like news.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import random
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils.http import parse_etags

from memgov import clock
from memgov.ids import new_id
from memory.domain.digest import Digest, DigestEntry, build_digest
from memory.domain.injection import text_sha256
from memory.domain.left_out import left_out
from memory.domain.policy import Policy
from memory.domain.registry import Registry
from memory.domain.scopes import Scope, Verb, may
from memory.domain.types import Band, Kind, Status
from memory.models import Manifest, Memory, ScopeRecord
from memory.models.memory import LIVE_STATUSES
from memory.selectors.policies import policy_for
from memory.selectors.timely import holds
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.services.errors import NotFound
from memory.store import manifests
from tenants.context import tenant_context
from tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class DigestAnswer:
    """A digest with its ETag; `manifest` is None when the reader already has this text."""

    digest: Digest
    etag: str
    manifest: Manifest | None


def digest_read(
    principal: Principal, scope: Scope, *, session: str = "", max_tokens: int | None = None, have: str = ""
) -> DigestAnswer:
    """The digest of one scope; `have` is the `If-None-Match` of who has one.

    Raises `NotFound` for a scope that the principal may not read.
    """
    now = clock.now()
    active = policy_for(principal)
    with tenant_context(principal.tenant_id):
        if not may_read(principal, scope):
            raise NotFound(f"there is no scope {scope} that this key may read")
        policy = active.policy.for_scope(scope)
        registry = active.words.registry
        rows = list(live_rows(scope, now))
        digest = build_digest([digest_entry(row, registry, now) for row in rows], now, policy, max_tokens)
        etag = f'"{text_sha256(f"{active.number} {session} {digest.text}")[:32]}"'
        if _is_among(have, etag):
            return DigestAnswer(digest, etag, None)
        manifest = Manifest(
            id=new_id(now),
            kind="digest",
            at=now,
            agent_id=principal.agent_id,
            agent_name=principal.name,
            agent_role=principal.role,
            session=session,
            request={"scope": str(scope), "max_tokens": max_tokens},
            excluded=digest.left_out,
            excluded_ids=_named(digest, active.policy),
            policy_version=active.number,
            block_digest=text_sha256(digest.text),
            tokens=digest.tokens,
        )
        manifests.insert(manifest, _manifest_entries(digest, rows))
    return DigestAnswer(digest, etag, manifest)


def _is_among(have: str, etag: str) -> bool:
    """Whether an `If-None-Match` names the tag: alone, in a list, or weakened by a compression on the way."""
    named = parse_etags(have)
    return "*" in named or etag in (one.removeprefix("W/") for one in named)


def may_read(principal: Principal, scope: Scope) -> bool:
    """Whether the principal reads the scope; sessions and tasks only their owner."""
    if principal.kind != "agent":
        return True
    owned: Sequence[Scope] = ()
    if is_owned_kind(scope):
        mine = ScopeRecord.objects.filter(name=str(scope), owner_agent_id=principal.agent_id).exists()
        owned = [scope] if mine else []
    return may(Verb.READ, scope, agent_role=principal.role, rules=rules_of(principal), owned=owned)


def _named(digest: Digest, policy: Policy) -> dict[str, list[str]]:
    left = left_out(policy.manifests, random())
    for reason, ids in digest.unseen.items():
        left.note(reason, ids)
    return left.ids


# What a digest is made of.
_NEEDED: Final = (
    "tenant_id", "id", "version", "content", "status", "scope", "kind", "subject", "predicate", "claim", "confidence",
    "importance", "trust", "pinned_at", "pinned_until", "recorded_at", "learned_at", "agent_name", "tool",
)  # fmt: skip


def live_rows(scope: Scope, now: datetime) -> QuerySet[Memory]:
    """What a reader of the scope could get now, whether or not a sweep has run."""
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    rows: QuerySet[Memory] = Memory.objects.filter(
        unexpired & holds(now), scope=str(scope), status__in=LIVE_STATUSES
    )
    return rows.only(*_NEEDED).order_by("id")


def digest_entry(row: Memory, registry: Registry, now: datetime) -> DigestEntry:
    """The row as the digest sees it."""
    contested = row.status == Status.CONTESTED.value
    return DigestEntry(
        id=row.id,
        version=row.version,
        content=row.content,
        learned_at=row.learned_at,
        kind=Kind(row.kind),
        rule=registry.lookup(row.predicate) if row.predicate else None,
        confidence=row.confidence,
        importance=row.importance,
        pinned=row.pinned_at is not None and (row.pinned_until is None or row.pinned_until > now),
        contested=contested,
        clash=(row.subject, row.predicate, row.claim) if contested else None,
    )


def _manifest_entries(digest: Digest, rows: Sequence[Memory]) -> list[dict[str, Any]]:
    banded = [(entry, Band.FRESH) for entry in digest.fresh] + [(entry, Band.AGING) for entry in digest.aging]
    ranks = {entry.id: rank for rank, (entry, _) in enumerate(banded, 1)}
    by_id = {row.id: row for row in rows}
    return [
        {
            "rank": ranks[entry.id],
            "memory_id": entry.id,
            "version": entry.version,
            "scope": by_id[entry.id].scope,
            "band": band.value,
            "channel": "digest",
            "score": entry.importance * entry.confidence,
            "scores": {"importance": entry.importance, "confidence": entry.confidence},
            "source": source_of(by_id[entry.id]),
            "trust": by_id[entry.id].trust,
            "recorded_at": by_id[entry.id].recorded_at,
            "learned_at": entry.learned_at,
            "rivals_from": min(ranks[one] for one in (entry.id, *entry.rivals)) if entry.rivals else None,
        }
        for entry, band in banded
    ]


def source_of(row: Memory) -> str:
    """Who said it: the agent, and the tool it used."""
    return f"{row.agent_name}/{row.tool}" if row.tool else row.agent_name

"""The digest of a scope: the bounded text that a prompt starts with, built from what is live right now.

It is built at each read, so that nothing can make it stale; the ETag lets a reader keep what has not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from memgov import clock
from memgov.ids import new_id
from memory.domain.digest import Digest, DigestEntry, build_digest
from memory.domain.injection import text_sha256
from memory.domain.scopes import Scope, Verb, may
from memory.domain.types import Band, Kind
from memory.models import Manifest, ManifestEntry, Memory, ScopeRecord
from memory.models.memory import LIVE_STATUSES
from memory.selectors.policies import active_policy
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.selectors.vocabulary import words_known
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
    """The digest of one scope.  Raises `NotFound` for a scope that the principal may not read."""
    now = clock.now()
    with tenant_context(principal.tenant_id):
        if not may_read(principal, scope):
            raise NotFound(f"there is no scope {scope} that this key may read")
        active = active_policy()
        policy = active.policy.for_scope(scope)
        rows = list(live_rows(scope, now))
        digest = build_digest([_entry(row) for row in rows], now, policy, max_tokens)
        etag = f'"{text_sha256(f"{active.number} {digest.text}")[:32]}"'
        if have == etag:
            return DigestAnswer(digest, etag, None)
        manifest = Manifest(
            id=new_id(now),
            kind="digest",
            at=now,
            agent_id=principal.agent_id,
            agent_name=principal.name,
            agent_role=principal.role,
            session=session,
            # What the text says beside the versions of its entries, so that it can be rendered again.
            request={"scope": str(scope), "max_tokens": max_tokens, "learned": _learned(digest)},
            excluded=digest.left_out,
            policy_version=active.number,
            block_digest=text_sha256(digest.text),
            tokens=digest.tokens,
        )
        manifests.insert(manifest, _manifest_entries(digest, str(scope)))
    return DigestAnswer(digest, etag, manifest)


def may_read(principal: Principal, scope: Scope) -> bool:
    """Whether the principal reads the scope; sessions and tasks only their owner."""
    if principal.kind != "agent":
        return True
    owned: Sequence[Scope] = ()
    if is_owned_kind(scope):
        mine = ScopeRecord.objects.filter(name=str(scope), owner_agent_id=principal.agent_id).exists()
        owned = [scope] if mine else []
    return may(Verb.READ, scope, agent_role=principal.role, rules=rules_of(principal), owned=owned)


def live_rows(scope: Scope, now: datetime) -> QuerySet[Memory]:
    """What a reader of the scope could get now, whether or not a sweep has run."""
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    rows: QuerySet[Memory] = Memory.objects.filter(unexpired, scope=str(scope), status__in=LIVE_STATUSES)
    return rows.order_by("id")


def shown_content(content: str, status: str) -> str:
    """The content as a digest shows it: with a warning where another value is claimed."""
    return f"{content} (contested: another value is claimed too)" if status == "contested" else content


def _entry(row: Memory) -> DigestEntry:
    return DigestEntry(
        id=row.id,
        version=row.version,
        content=shown_content(row.content, row.status),
        learned_at=row.learned_at,
        kind=Kind(row.kind),
        rule=words_known(row.tenant_id).registry.lookup(row.predicate) if row.predicate else None,
        confidence=row.confidence,
        importance=row.importance,
        pinned=row.pinned_at is not None,
    )


def _learned(digest: Digest) -> list[str]:
    """When each entry was learned, in the order of the manifest: a re-confirmation makes no new version."""
    return [entry.learned_at.isoformat() for entry in (*digest.fresh, *digest.aging)]


def _manifest_entries(digest: Digest, scope: str) -> list[ManifestEntry]:
    banded = [(entry, Band.FRESH) for entry in digest.fresh] + [(entry, Band.AGING) for entry in digest.aging]
    return [
        ManifestEntry(
            rank=rank,
            memory_id=entry.id,
            version=entry.version,
            scope=scope,
            band=band.value,
            channel="digest",
            score=0.0,
        )
        for rank, (entry, band) in enumerate(banded, 1)
    ]

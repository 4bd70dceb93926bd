"""Reading a manifest again: what was given, rendered anew from the versions of that time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from memgov import clock
from memory.domain.digest import DigestEntry, render_digest
from memory.domain.ids import show_id
from memory.domain.injection import BlockEntry, BlockFormat, render_block, text_sha256
from memory.domain.types import Band, Status
from memory.models import Manifest, ManifestEntry, Memory, Revision
from memory.selectors.policies import active_policy
from memory.services.errors import NotFound
from memory.services.working_read import WORKING, working_texts
from tenants.context import tenant_context
from tenants.principals import Principal

ERASED_TEXT = "[erased]"


@dataclass(frozen=True, slots=True)
class Injected:
    """One entry of a manifest.  `content` is the text that it had, None when that is gone for good; `status_now` is
    that of the memory today, "" for a working value."""

    entry: ManifestEntry
    content: str | None
    state: Mapping[str, Any]
    status_now: str

    @property
    def shown_id(self) -> str:
        """The id as it was given: that of a memory or of a working value."""
        return show_id("wrk" if self.entry.channel == WORKING else "mem", self.entry.memory_id)

    @property
    def erased(self) -> bool:
        return self.content is None

    @property
    def text(self) -> str:
        """The content, or the words that stand for it."""
        return ERASED_TEXT if self.content is None else self.content


@dataclass(frozen=True, slots=True)
class ManifestView:
    """A manifest with its entries and text.  `as_returned` says that the entries give the text that was returned,
    byte for byte; it is false only where an erasure took text away."""

    manifest: Manifest
    injected: list[Injected]
    text: str
    as_returned: bool


def manifest_read(
    principal: Principal, manifest_id: UUID, block_format: BlockFormat | None = None
) -> ManifestView:
    """A manifest of the agent's own reads (members see all), with its text in the format that it was returned in, or
    in another.  Raises `NotFound`, also when its time is over."""
    with tenant_context(principal.tenant_id):
        manifest = Manifest.objects.filter(id=manifest_id).first()
        if manifest is None or (principal.kind == "agent" and manifest.agent_id != principal.agent_id):
            raise NotFound("there is no such manifest for this key")
        kept = timedelta(days=active_policy().policy.retention.manifest_days)
        if manifest.at <= clock.now() - kept:
            raise NotFound("there is no such manifest for this key")
        entries = list(ManifestEntry.objects.filter(manifest_id=manifest.id).order_by("rank"))
        injected = _with_texts(entries, working_texts(manifest.working))
    text = _rendered(manifest, injected, manifest.block_format)
    as_returned = text_sha256(text) == manifest.block_digest
    if block_format is not None and block_format != manifest.block_format:
        text = _rendered(manifest, injected, block_format)
    return ManifestView(manifest, injected, text, as_returned)


def _with_texts(entries: Sequence[ManifestEntry], working: Mapping[UUID, str]) -> list[Injected]:
    ids = [entry.memory_id for entry in entries]
    now = dict(Memory.objects.filter(id__in=ids).values_list("id", "status"))
    wanted = Q(id__in=[])
    for entry in entries:
        wanted |= Q(memory_id=entry.memory_id, version=entry.version)
    states = {(row.memory_id, row.version): row.state for row in Revision.objects.filter(wanted)}
    found = []
    for entry in entries:
        if entry.channel == WORKING:
            found.append(Injected(entry, working.get(entry.memory_id), {}, ""))
            continue
        status = now.get(entry.memory_id, Status.ERASED.value)
        state = states.get((entry.memory_id, entry.version), {})
        content = None if status == Status.ERASED.value else state.get("content")
        found.append(Injected(entry, content, state, status))
    return found


def _rendered(manifest: Manifest, injected: Sequence[Injected], block_format: str) -> str:
    if manifest.kind == "digest":
        return _digest_text(injected, manifest.at)
    return render_block([_block_entry(one, manifest.at) for one in injected], block_format)  # type: ignore[arg-type]


def _block_entry(one: Injected, read_at: datetime) -> BlockEntry:
    entry = one.entry
    return BlockEntry(
        id=one.shown_id,
        version=entry.version,
        scope=entry.scope,
        source=entry.source,
        trust=entry.trust,
        band=Band(entry.band),
        recorded_at=entry.recorded_at or read_at,
        content=one.text,
    )


def _digest_text(injected: Sequence[Injected], read_at: datetime) -> str:
    if not injected:
        return ""
    banded: dict[str, list[DigestEntry]] = {Band.FRESH: [], Band.AGING: []}
    for one in injected:
        banded[one.entry.band].append(_digest_entry(one, injected, read_at))
    return render_digest(banded[Band.FRESH], banded[Band.AGING])


def _digest_entry(one: Injected, among: Sequence[Injected], read_at: datetime) -> DigestEntry:
    entry = one.entry
    rivals = [
        other.entry.memory_id
        for other in among
        if entry.rivals_from is not None and other.entry.rivals_from == entry.rivals_from and other is not one
    ]
    contested = one.state.get("status") == Status.CONTESTED.value
    return DigestEntry(
        entry.memory_id, entry.version, one.text, entry.learned_at or read_at, contested=contested,
        rivals=tuple(rivals),
    )  # fmt: skip

"""Reading a manifest again: what was injected, rendered anew from the revisions of that time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.dateparse import parse_datetime

from memory.domain.digest import DigestEntry, render_digest
from memory.domain.ids import show_id
from memory.domain.injection import BlockEntry, render_block, text_sha256
from memory.domain.types import Band
from memory.models import Manifest, ManifestEntry, Memory, Revision
from memory.services.digest import shown_content
from memory.services.errors import NotFound
from memory.services.working_read import WORKING, working_again
from tenants.context import tenant_context
from tenants.principals import Principal

ERASED_TEXT = "[erased]"


@dataclass(frozen=True, slots=True)
class Injected:
    """One entry of a manifest with the text that it had; `erased` when the text is gone for good."""

    entry: ManifestEntry
    memory: Memory
    state: dict[str, Any]
    erased: bool

    @property
    def shown_id(self) -> str:
        """The id as it was given: that of a memory or of a working value."""
        return show_id("wrk" if self.entry.channel == WORKING else "mem", self.entry.memory_id)

    @property
    def content(self) -> str:
        return ERASED_TEXT if self.erased else str(self.state["content"])

    @property
    def source(self) -> str:
        """Who said it, as retrieval names it; neither part changes after the memory is stored."""
        return f"{self.memory.agent_name}/{self.memory.tool}" if self.memory.tool else self.memory.agent_name


@dataclass(frozen=True, slots=True)
class ManifestView:
    """A manifest with its entries and text.  `as_returned` says that the text is the one that was returned,
    byte for byte; it is false only where an erasure took text away."""

    manifest: Manifest
    injected: list[Injected]
    text: str
    as_returned: bool


def manifest_read(principal: Principal, manifest_id: UUID) -> ManifestView:
    """A manifest of the agent's own reads (members see all).  Raises `NotFound`."""
    with tenant_context(principal.tenant_id):
        manifest = Manifest.objects.filter(id=manifest_id).first()
        if manifest is None or (principal.kind == "agent" and manifest.agent_id != principal.agent_id):
            raise NotFound("there is no such manifest for this key")
        entries = list(ManifestEntry.objects.filter(manifest_id=manifest.id).order_by("rank"))
        injected = _with_texts(entries, working_again(manifest.working))
    text = _digest_text(manifest, injected) if manifest.kind == "digest" else _block(manifest, injected)
    return ManifestView(manifest, injected, text, text_sha256(text) == manifest.block_digest)


def _with_texts(
    entries: Sequence[ManifestEntry], working: Mapping[UUID, tuple[Memory, dict[str, Any]]]
) -> list[Injected]:
    memories = {row.id: row for row in Memory.objects.filter(id__in=[entry.memory_id for entry in entries])}
    wanted = Q(id__in=[])
    for entry in entries:
        wanted |= Q(memory_id=entry.memory_id, version=entry.version)
    states = {(row.memory_id, row.version): row.state for row in Revision.objects.filter(wanted)}
    found = []
    for entry in entries:
        if entry.channel == WORKING:
            memory, state = working.get(entry.memory_id, (Memory(), {}))
            found.append(Injected(entry, memory, state, "content" not in state))
            continue
        state = states.get((entry.memory_id, entry.version), {})
        memory = memories.get(entry.memory_id) or Memory(id=entry.memory_id, status="erased")
        found.append(Injected(entry, memory, state, memory.status == "erased" or "content" not in state))
    return found


def _block(manifest: Manifest, injected: Sequence[Injected]) -> str:
    entries = (
        BlockEntry(
            id=one.shown_id,
            version=one.entry.version,
            scope=one.entry.scope,
            source=one.source,
            trust=float(one.state.get("trust", 0.0)),
            band=Band(one.entry.band),
            recorded_at=one.memory.recorded_at,
            content=one.content,
        )
        for one in injected
    )
    return render_block(entries, manifest.request.get("format", "xml"))


def _digest_text(manifest: Manifest, injected: Sequence[Injected]) -> str:
    learned = [parse_datetime(text) for text in manifest.request.get("learned", [])]
    if not injected or len(learned) != len(injected):
        return ""
    banded: dict[str, list[DigestEntry]] = {Band.FRESH: [], Band.AGING: []}
    for one, instant in zip(injected, learned, strict=True):
        banded[one.entry.band].append(_digest_entry(one, instant or manifest.at))
    return render_digest(banded[Band.FRESH], banded[Band.AGING])


def _digest_entry(one: Injected, learned_at: datetime) -> DigestEntry:
    content = shown_content(one.content, str(one.state.get("status", "")))
    return DigestEntry(one.entry.memory_id, one.entry.version, content, learned_at)

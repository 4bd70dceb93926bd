"""Mounts: which files declare what readers get first, from which commit, and what became of their entries.

Read only: a mount changes by its file.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.types import Status
from memory.models import Memory, Mount, MountEntry
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, row_id, url
from memory.pages.memory_shapes import address, band_of
from memory.selectors import pages_mounts as found
from tenants.context import tenant_context


@tenant_page("mounts")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """All mounts of the tenant."""
    with tenant_context(viewer.tenant.id):
        items = [_mount(viewer, row.mount) | {"given": row.given} for row in found.mounts(clock.now())]
        return answer(request, "pages/mounts/index.html", {"items": items})


@tenant_page("mounts")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One mount with its entries."""
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        mount = found.mount(row_id("mnt", item))
        if mount is None:
            raise Http404
        context = {
            "mount": _mount(viewer, mount),
            "entries": [
                _entry(viewer, rank, entry, memory, now)
                for rank, (entry, memory) in enumerate(found.entries(mount), 1)
            ],
            "audit_url": url(viewer, "audit", q=show_id("mnt", mount.id)),
        }
        return answer(request, "pages/mounts/detail.html", context)


def _mount(viewer: Viewer, mount: Mount) -> dict[str, Any]:
    return {
        "id_text": show_id("mnt", mount.id),
        "url": url(viewer, "mount", show_id("mnt", mount.id)),
        "name": mount.name,
        "sha256": mount.sha256,
        "commit": mount.commit,
        "scopes": mount.scopes,
        "entries": mount.entry_count,
        "revision": mount.revision,
        "applied_at": mount.applied_at,
        "applied_by": mount.applied_by,
    }


def _entry(viewer: Viewer, rank: int, entry: MountEntry, memory: Memory, now: datetime) -> dict[str, Any]:
    over = memory.status == Status.LIVE and memory.expires_at is not None and memory.expires_at <= now
    return {
        "rank": rank,
        "url": address(viewer, memory),
        "id_text": show_id("mem", memory.id),
        "content": memory.content or _("The text was erased"),
        "scope": memory.scope,
        "status": Status.EXPIRED.value if over else memory.status,
        "band": "" if over else band_of(memory, viewer.policy().policy, now),
        "order": entry.sort_order,
        "line": entry.line,
        "by_content": bool(entry.said),
        "applies_to": ", ".join([*entry.paths, *entry.tags]),
    }

"""Restoring one memory: what it would meet, shown side by side, and what is to become of it; letting one go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain import lifecycle
from memory.domain.ids import parse_id, show_id
from memory.models import Memory
from memory.pages import memory_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import (
    SeeOther,
    answer,
    day_end,
    flash,
    flash_error,
    raise_or_deny,
    row_id,
    sentence,
    url,
    version_of,
)
from memory.pages.wording import plain_reason
from memory.services.errors import Conflict, Invalid, ServiceError, VersionConflict
from memory.services.restore import ON_CLASH, OnClash, clash_of, goes_back_to, memory_restore
from memory.services.retention import memory_delete
from tenants.context import tenant_context

# A code, as every reason that no person wrote: pages say it in the language of whoever reads it.
_LET_GO: Final = "let_go"


@tenant_page("evictions", read="review", write="review")
def restore(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask what is to become of what lives in its place, then bring it back."""
    memory_id = row_id("mem", item)
    if request.method != "POST":
        return _ask(request, viewer, memory_id)
    given = request.POST.get("on_clash", "refuse")
    on_clash: OnClash = next((one for one in ON_CLASH if one == given), "refuse")
    try:
        until = day_end(request.POST.get("until", ""))
    except ValueError:
        return _ask(request, viewer, memory_id, 422, error=_("The date has to look like 2030-12-31."))
    try:
        memory_restore(
            viewer.principal, memory_id, request.POST.get("reason", ""), version=version_of(request),
            expires_at=until, on_clash=on_clash, seen=_seen(request),
        )  # fmt: skip
    except (Conflict, VersionConflict) as error:
        return _ask(request, viewer, memory_id, 409, error=sentence(error))
    except Invalid as error:
        return _ask(request, viewer, memory_id, 422, error=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Restored with its id, history and counters."))
    return SeeOther(url(viewer, "memory", item))


def _seen(request: HttpRequest) -> Mapping[UUID, int] | None:
    """The versions of what lived in its place when the form was made: `mem_….3`, one for each."""
    found: dict[UUID, int] = {}
    for text in request.POST.getlist("rival"):
        ident, _dot, version = text.partition(".")
        try:
            found[parse_id("mem", ident)] = int(version)
        except ValueError:
            return None
    return found


def _ask(
    request: HttpRequest, viewer: Viewer, memory_id: UUID, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        memory = Memory.objects.filter(id=memory_id).first()
        if memory is None:
            raise Http404
        if memory.status not in lifecycle.RESTORABLE and status == 200:
            raise Http404
        clash = clash_of(memory) if memory.status in lifecycle.RESTORABLE else None
        context = {
            "m": {**_side(viewer, memory), "status_reason": plain_reason(memory.status_reason)},
            "rivals": [_side(viewer, row) for row in clash.rows] if clash else [],
            "can_contest": bool(clash and clash.contradicting and not clash.same),
            "held_again": goes_back_to(memory).value == "quarantined",
            "form": {name: request.POST.get(name, "") for name in ("reason", "until", "on_clash")},
            **more,
        }
        return answer(request, "pages/memories/restore.html", context, status)


def _side(viewer: Viewer, row: Memory) -> dict[str, Any]:
    return {
        "id_text": show_id("mem", row.id),
        "url": shapes.address(viewer, row),
        "content": row.content,
        "status": row.status,
        "scope": row.scope,
        "version": row.version,
        "agent": row.agent_name,
        "confidence": row.confidence,
        "trust": row.trust,
        "use_count": row.use_count,
        "learned_at": row.learned_at,
        "changed_at": row.status_changed_at,
    }


@tenant_page("evictions", read=None, write="review")
def let_go(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Say that it may go: a tombstone, restorable for as long as every other, then purged."""
    try:
        memory_delete(viewer.principal, row_id("mem", item), _LET_GO, version=version_of(request))
    except (Conflict, VersionConflict) as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        flash(
            request,
            _("Let go. Its text is purged after the retention time; until then it can still come back."),
        )
    return SeeOther(url(viewer, "evictions"))

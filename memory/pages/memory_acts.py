"""What people do with one memory: admit, pin, unpin, verify, edit, delete."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.blast import Seed
from memory.domain.ids import show_id
from memory.models import Memory
from memory.pages import memory_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import (
    SeeOther,
    answer,
    day_end,
    flash,
    raise_or_deny,
    row_id,
    sentence,
    url,
    version_of,
)
from memory.pages.memories import detail
from memory.pages.queue import Clash
from memory.selectors import blast
from memory.services.candidate_admit import candidate_admit
from memory.services.errors import Conflict, Invalid, ServiceError, VersionConflict
from memory.services.memory_edit import memory_edit
from memory.services.retention import memory_delete, memory_pin, memory_unpin, memory_verify
from tenants.context import tenant_context

_MOST_SHOWN = 200


def _act(
    request: HttpRequest, viewer: Viewer, memory_id: UUID, done: str, service: Callable[[], object]
) -> HttpResponse:
    """Run the service; back to the memory with a message, or the page with what stood in the way."""
    form = {name: request.POST.get(name, "") for name in ("reason", "until", "content", "value")}
    try:
        service()
    except VersionConflict as error:
        clash = Clash(changed=[sentence(error)])
        return detail(request, viewer, memory_id, 409, clash=clash, form=form)
    except Conflict as error:
        return detail(request, viewer, memory_id, 409, error=sentence(error), form=form)
    except Invalid as error:
        return detail(request, viewer, memory_id, 422, error=sentence(error), form=form)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, done)
    return SeeOther(url(viewer, "memory", show_id("mem", memory_id)))


def _until(request: HttpRequest) -> datetime | None:
    try:
        return day_end(request.POST.get("until", ""))
    except ValueError:
        raise Invalid(_("the date has to look like 2030-12-31"), field="until") from None


@tenant_page("memories", read=None, write="review")
def pin(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Keep it from decay, eviction and compaction."""
    memory_id = row_id("mem", item)

    def service() -> object:
        reason, until = request.POST.get("reason", ""), _until(request)
        return memory_pin(viewer.principal, memory_id, reason, until=until, version=version_of(request))

    return _act(request, viewer, memory_id, _("Pinned."), service)


@tenant_page("memories", read=None, write="review")
def unpin(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Let it age again."""
    memory_id = row_id("mem", item)
    return _act(
        request,
        viewer,
        memory_id,
        _("Unpinned. It ages again."),
        lambda: memory_unpin(viewer.principal, memory_id, version=version_of(request)),
    )


@tenant_page("memories", read=None, write="review")
def verify(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Confirm that it is still true."""
    memory_id = row_id("mem", item)
    return _act(
        request,
        viewer,
        memory_id,
        _("Confirmed. It counts as fresh from now on."),
        lambda: memory_verify(viewer.principal, memory_id, version=version_of(request)),
    )


@tenant_page("memories", read=None, write="review")
def admit(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Let a candidate in, such as a row of a foreign store."""
    memory_id, reason = row_id("mem", item), request.POST.get("reason", "")
    return _act(
        request,
        viewer,
        memory_id,
        _("Let in. Agents can read it from now on."),
        lambda: candidate_admit(viewer.principal, memory_id, reason, version=version_of(request)),
    )


@tenant_page("memories", read=None, write="review")
def edit(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Change what it says; the gates of a write apply."""
    memory_id = row_id("mem", item)

    def service() -> object:
        named = ("content", "value") if "value" in request.POST else ("content",)
        texts: dict[str, object] = {name: request.POST.get(name, "").strip() for name in named}
        return memory_edit(viewer.principal, memory_id, texts, version=version_of(request))

    return _act(request, viewer, memory_id, _("Saved as a new version."), service)


@tenant_page("memories", read="review", write="review")
def delete(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask, then delete it, and with it what was derived from it if so chosen."""
    memory_id = row_id("mem", item)
    if request.method != "POST":
        return _ask(request, viewer, memory_id)
    reason, cascade = request.POST.get("reason", ""), request.POST.get("cascade") == "yes"
    try:
        gone = memory_delete(
            viewer.principal, memory_id, reason, version=version_of(request), cascade=cascade
        )
    except Invalid as error:
        return _ask(request, viewer, memory_id, 422, error=sentence(error), reason=reason, cascade=cascade)
    except (Conflict, VersionConflict) as error:
        return detail(request, viewer, memory_id, 409, clash=Clash(changed=[sentence(error)]))
    except ServiceError as error:
        return raise_or_deny(error)
    text = (
        _("Deleted.") if len(gone) == 1 else _("Deleted, with %(n)d derived from it.") % {"n": len(gone) - 1}
    )
    flash(request, text)
    return SeeOther(url(viewer, "memory", show_id("mem", memory_id)))


def _ask(
    request: HttpRequest, viewer: Viewer, memory_id: UUID, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        memory = Memory.objects.filter(id=memory_id).first()
        if memory is None or not shapes.allowed(viewer, memory)["delete"]:
            raise Http404
        derived = [
            {
                "id_text": show_id("mem", row.id),
                "url": url(viewer, "memory", show_id("mem", row.id)),
                "content": row.content,
            }
            for row in blast.entries(Seed(memory=memory.id), clock.now(), most=_MOST_SHOWN)
            if not row.written and row.status not in ("deleted", "erased")
        ]
        m = {
            "id_text": show_id("mem", memory.id),
            "content": memory.content,
            "version": memory.version,
            "scope": memory.scope,
        }
        context = {"m": m, "derived": derived, **more}
        return answer(request, "pages/memories/delete.html", context, status)

"""Keeping a view of a queue under a name, and forgetting it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.pages import contradictions, promotions, quarantine
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, flash, flash_error, raise_or_deny, sentence, url
from memory.pages.queue import LONGEST_SEARCH, Queue
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.saved_views import view_drop, view_save

_QUEUES = {one.name: one for one in (promotions.QUEUE, contradictions.QUEUE, quarantine.QUEUE)}


@tenant_page("promotions", read=None, write="read")
def save(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Keep what the queue shows now; back to it, which shows the same."""
    queue, name = _queue(request), request.POST.get("name", "")
    query = _query(request, queue)
    try:
        view_save(viewer.principal, queue.name, name, query)
    except (Conflict, Invalid) as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        flash(request, _("Kept as a view of yours."))
    return SeeOther(url(viewer, queue.name, **query))


@tenant_page("promotions", read=None, write="read")
def drop(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Forget a view."""
    queue = _queue(request)
    view_drop(viewer.principal, queue.name, request.POST.get("name", ""))
    flash(request, _("Removed."))
    return SeeOther(url(viewer, queue.name))


def _queue(request: HttpRequest) -> Queue:
    queue = _QUEUES.get(request.POST.get("queue", ""))
    if queue is None:
        raise Http404
    return queue


def _query(request: HttpRequest, queue: Queue) -> dict[str, Any]:
    """Only what the queue knows; the search as it would be read from its address."""
    view, sort = request.POST.get("view", ""), request.POST.get("sort", "")
    q = request.POST.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    return {
        "view": view if view in [slug for slug, _label in queue.views] else queue.views[0][0],
        "q": q,
        "sort": sort if sort in [slug for slug, _label in queue.sorts] else "",
    }

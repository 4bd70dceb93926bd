"""Contradictions: two memories that cannot both be true, or that may say the same."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.models import Contradiction, Memory
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import raise_or_deny, row_id, sentence, url, version_of
from memory.pages.contradiction_shapes import settlement
from memory.pages.memory_shapes import address
from memory.pages.queue import Asked, Clash, Queue, Rows
from memory.pages.wording import plain, said_key, timeline
from memory.selectors import pages_contradictions as found
from memory.selectors.pages_traces import events_of
from memory.services.contradictions import UNDO_FOR, contradiction_settle, contradiction_undo
from memory.services.errors import Conflict, Invalid, ServiceError
from tenants.context import tenant_context

_KINDS = {
    "conflict": gettext_lazy("A weaker source disagrees"),
    "contested": gettext_lazy("Two equal sources disagree"),
    "merge": gettext_lazy("They may say the same"),
}
_WHY = {
    "conflict": gettext_lazy("A is in use. B came from a weaker source and is held until someone decides."),
    "contested": gettext_lazy("Both are in use and marked as contested until someone decides."),
    "merge": gettext_lazy("The wording is close, but not close enough to merge without a person."),
}
_DONE = {
    "keep_a": gettext_lazy("Settled: A is kept."),
    "keep_b": gettext_lazy("Settled: B is kept."),
    "keep_both": gettext_lazy("Settled: both are kept."),
}
_RESOLUTIONS = {
    "keep_a": gettext_lazy("kept A"),
    "keep_b": gettext_lazy("kept B"),
    "keep_both": gettext_lazy("kept both"),
    "moot": gettext_lazy("settled it by another decision"),
}


def _rows(viewer: Viewer, asked: Asked) -> Rows:
    page = found.queue(asked.view, asked.q, asked.cursor)
    items = [
        {
            "id_text": show_id("con", row.id),
            "key": said_key(row.subject, row.predicate) or row.scope,
            "scope": row.scope,
            "values": [row.text_a, row.text_b],
            "opened_at": row.created_at,
            "kind_label": _KINDS.get(row.kind, row.kind),
            "status": row.status,
        }
        for row in page.rows
    ]
    return Rows(items, [row.id for row in page.rows], page.next)


def _detail(viewer: Viewer, item: UUID) -> dict[str, Any] | None:
    row = Contradiction.objects.filter(id=item).first()
    if row is None:
        return None
    a, b = found.both(row)
    mine = row.undo.get("actor") == viewer.principal.id
    fresh = row.resolved_at is not None and clock.now() - row.resolved_at <= UNDO_FOR
    undo_url = url(viewer, "contradiction-undo", show_id("con", row.id))
    events = events_of([show_id("con", row.id)])
    return {
        "id_text": show_id("con", row.id),
        "status": row.status,
        "kind": row.kind,
        "key": said_key(row.subject, row.predicate) or _("Two wordings"),
        "scope": row.scope,
        "opened_at": row.created_at,
        "why": (_WHY if row.status == "open" else _KINDS).get(row.kind, ""),
        "version": row.version,
        "can_decide": row.status == "open" and viewer.can("review"),
        "undo_url": undo_url if mine and fresh and viewer.can("review") else "",
        "a": _side(viewer, a),
        "b": _side(viewer, b),
        "settled": settlement(viewer, row, b, events),
        "history": timeline(events),
    }


def _side(viewer: Viewer, memory: Memory) -> dict[str, Any]:
    return {
        "id_text": show_id("mem", memory.id),
        "url": address(viewer, memory),
        "value": memory.content,
        "status": memory.status,
        "live": memory.status in lifecycle.READABLE,
        "source": memory.agent_name,
        "origin": plain(memory.origin),
        "recorded_at": memory.recorded_at,
        "learned_at": memory.learned_at,
        "confidence": memory.confidence,
        "trust": memory.trust,
        "uses": memory.use_count,
        "reproductions": memory.reproductions,
    }


def _following(viewer: Viewer, asked: Asked, item: UUID) -> UUID | None:
    row = Contradiction.objects.filter(id=item).first()
    if row is None:
        raise Http404
    return found.next_in(asked.view, asked.q, row)


QUEUE = Queue(
    name="contradictions",
    one="contradiction",
    prefix="con",
    views=(
        ("open", gettext_lazy("Open")),
        ("clashes", gettext_lazy("Clashes")),
        ("merges", gettext_lazy("Possible duplicates")),
        ("settled", gettext_lazy("Settled")),
    ),
    rows=_rows,
    detail=_detail,
    following=_following,
    counts=lambda viewer: found.counts(),
)


@tenant_page("contradictions")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The queue with its first contradiction."""
    return queues.show(request, viewer, QUEUE)


@tenant_page("contradictions")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One contradiction beside the queue."""
    return queues.show(request, viewer, QUEUE, row_id("con", item))


@tenant_page("contradictions", read=None, write="review")
def decide(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Keep A, keep B or keep both."""
    contradiction_id, reason = row_id("con", item), request.POST.get("reason", "")
    action = request.POST.get("action", "")
    following = queues.following(request, viewer, QUEUE, contradiction_id)
    try:
        contradiction_settle(viewer.principal, contradiction_id, action, reason, version=version_of(request))
    except Invalid as error:
        return queues.incomplete(request, viewer, QUEUE, contradiction_id, sentence(error), reason)
    except Conflict as error:
        clash = _clash(viewer, contradiction_id, error)
        return queues.too_late(request, viewer, QUEUE, contradiction_id, clash, reason)
    except ServiceError as error:
        return raise_or_deny(error)
    undo_url = url(viewer, "contradiction-undo", item)
    text = str(_DONE[action])
    return queues.decided(request, viewer, QUEUE, contradiction_id, following, text, undo_url=undo_url)


@tenant_page("contradictions", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take one's own decision back."""
    contradiction_id = row_id("con", item)
    try:
        contradiction_undo(viewer.principal, contradiction_id)
    except Conflict as error:
        clash = Clash(changed=[sentence(error)])
        return queues.too_late(request, viewer, QUEUE, contradiction_id, clash)
    except ServiceError as error:
        return raise_or_deny(error)
    text = _("Taken back. The contradiction is open again.")
    return queues.decided(request, viewer, QUEUE, contradiction_id, contradiction_id, text, relist=True)


def _clash(viewer: Viewer, contradiction_id: UUID, error: Conflict) -> Clash:
    if error.code == "already_decided":
        with tenant_context(viewer.tenant.id):
            row = Contradiction.objects.filter(id=contradiction_id).first()
        if row is not None and row.resolved_by:
            return Clash(row.resolved_by, str(_RESOLUTIONS.get(row.resolution, row.resolution)))
    return Clash(changed=[sentence(error)])

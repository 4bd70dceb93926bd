"""The sample of the week: memories drawn at random, judged by people for the miswrite rate."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Memory, SampleItem
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import raise_or_deny, row_id, sentence, url, version_of
from memory.pages.memory_shapes import address
from memory.pages.queue import Asked, Clash, Queue, Rows
from memory.pages.wording import plain, timeline
from memory.selectors import pages_sample as found
from memory.selectors.pages_traces import events_of
from memory.services import health_sample as service
from memory.services.errors import Conflict, Invalid, ServiceError, VersionConflict


def _rows(viewer: Viewer, asked: Asked) -> Rows:
    page = found.rows(asked.view, asked.q, asked.cursor)
    texts = found.memories(page.rows)
    items = [_row(row, texts[row.memory_id]) for row in page.rows]
    return Rows(items, [row.id for row in page.rows], page.next)


def _row(item: SampleItem, memory: Memory) -> dict[str, Any]:
    return {
        "id_text": show_id("smp", item.id),
        "value": memory.content,
        "scope": item.scope,
        "source": memory.agent_name,
        "verdict": item.verdict,
        "by": item.judged_by,
        "at": item.judged_at,
    }


def _detail(viewer: Viewer, item_id: UUID) -> dict[str, Any] | None:
    item = found.item(item_id)
    if item is None:
        return None
    memory = found.memories([item])[item.memory_id]
    shown, judge = show_id("mem", memory.id), viewer.can("review")
    back = judge and service.undoable(item, viewer.principal, clock.now())
    return _row(item, memory) | {
        "place": item.place,
        "memory_url": address(viewer, memory),
        "memory_text": shown,
        "key": f"{memory.subject} · {memory.predicate}" if memory.predicate else "",
        "status": memory.status,
        "still_read": service.still_read(memory),
        "origin": plain(memory.origin),
        "trust": memory.trust,
        "confidence": memory.confidence,
        "learned_at": memory.learned_at,
        "session": memory.session,
        "uses": memory.use_count,
        "changed": memory.version != item.memory_version,
        "reason_given": item.reason,
        "version": item.version,
        "memory_version": memory.version,
        "can_decide": judge and service.judgeable(item, memory),
        "undo_url": url(viewer, "sample-undo", show_id("smp", item.id)) if back else "",
        "history": timeline(events_of([shown])),
    }


def _following(viewer: Viewer, asked: Asked, item_id: UUID) -> UUID | None:
    item = found.item(item_id)
    if item is None:
        raise Http404
    return found.following(asked.view, asked.q, item)


QUEUE = Queue(
    name="sample",
    one="sampled",
    prefix="smp",
    views=((found.OPEN, gettext_lazy("To judge")), (found.JUDGED, gettext_lazy("Judged"))),
    rows=_rows,
    detail=_detail,
    following=_following,
    counts=lambda viewer: found.counts(),
)


@tenant_page("health")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The draw of the week with its first entry."""
    return queues.show(request, viewer, QUEUE)


@tenant_page("health")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One entry beside the draw."""
    return queues.show(request, viewer, QUEUE, row_id("smp", item))


@tenant_page("health", read=None, write="review")
def decide(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Right, wrong or unsure."""
    item_id, reason = row_id("smp", item), request.POST.get("reason", "")
    seen = request.POST.get("memory_version", "")
    following = queues.following(request, viewer, QUEUE, item_id)
    try:
        service.sample_judge(
            viewer.principal,
            item_id,
            request.POST.get("action", ""),
            reason,
            version=version_of(request),
            memory_version=int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else -1,
        )
    except Invalid as error:
        return queues.incomplete(request, viewer, QUEUE, item_id, sentence(error), reason)
    except (Conflict, VersionConflict) as error:
        return queues.too_late(request, viewer, QUEUE, item_id, Clash(changed=[sentence(error)]), reason)
    except ServiceError as error:
        return raise_or_deny(error)
    undo_url = url(viewer, "sample-undo", item)
    text = _("Judged. The miswrite rate counts it from the next measuring on.")
    return queues.decided(request, viewer, QUEUE, item_id, following, text, undo_url=undo_url)


@tenant_page("health", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take one's own verdict back."""
    item_id = row_id("smp", item)
    try:
        service.sample_undo(viewer.principal, item_id)
    except Conflict as error:
        return queues.too_late(request, viewer, QUEUE, item_id, Clash(changed=[sentence(error)]))
    except ServiceError as error:
        return raise_or_deny(error)
    return queues.decided(request, viewer, QUEUE, item_id, item_id, _("Taken back."), relist=True)

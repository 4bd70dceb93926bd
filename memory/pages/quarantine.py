"""Quarantine: what was held for suspicion, its text made harmless, and releasing or deleting it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.sanitisation.views import views
from memory.models import Memory
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import raise_or_deny, row_id, sentence, url, version_of
from memory.pages.memory_shapes import address
from memory.pages.queue import Asked, Clash, Queue, Rows
from memory.pages.wording import finding_label, plain, timeline
from memory.selectors import pages_quarantine as found
from memory.selectors.pages_traces import events_of
from memory.services.digest import source_of
from memory.services.errors import Conflict, Invalid, ServiceError, VersionConflict
from memory.services.quarantine import (
    UNDO_FOR,
    quarantine_delete,
    quarantine_release,
    quarantine_undo,
    undoable,
)

_FIELDS = ("content", "value", "subject", "predicate", "session", "task", "tool", "input_hash")


def _rows(viewer: Viewer, asked: Asked) -> Rows:
    page = found.queue(asked.view, asked.q, asked.cursor)
    items = [
        {
            "id_text": show_id("mem", row.id),
            "value": row.content,
            "scope": row.scope,
            "source": row.agent_name,
            "found_at": row.status_changed_at,
            "rule_label": finding_label(row.findings[0]) if row.findings else _("By a reviewer"),
            "findings": len(row.findings),
        }
        for row in page.rows
    ]
    return Rows(items, [row.id for row in page.rows], page.next)


def _detail(viewer: Viewer, item: UUID) -> dict[str, Any] | None:
    row = Memory.objects.filter(id=item).first()
    if row is None:
        return None
    held = row.status == "quarantined"
    decision = None if held else undoable(row, viewer.principal)
    if not held and decision is None and not _was_held(row):
        return None
    fresh = decision is not None and clock.now() - decision.at <= UNDO_FOR and viewer.can("review")
    reach = found.reach_of(row)
    return {
        "id_text": show_id("mem", row.id),
        "memory_url": address(viewer, row),
        "status": row.status,
        "value": row.content,
        "spans": _spans(row),
        "decoded": _decoded(row.content),
        "scope": row.scope,
        "source": row.agent_name,
        "origin": plain(row.origin),
        "trust": row.trust,
        "found_at": row.status_changed_at,
        "version": row.version,
        "can_decide": held and viewer.can("review"),
        "undo_url": url(viewer, "quarantine-undo", show_id("mem", row.id)) if fresh else "",
        "findings": [_finding(row, one) for one in row.findings],
        "by_source": {"written": reach.written, "quarantined": reach.held, "rejected": reach.rejected},
        "blast": {"derived": reach.derived, "manifests": reach.manifests, "agents": reach.agents},
        "manifests_url": url(viewer, "manifests", memory=show_id("mem", row.id)),
        "blast_url": url(viewer, "blast", memory=show_id("mem", row.id)),
        "source_blast_url": url(viewer, "blast", source=source_of(row)),
        "history": timeline(events_of([show_id("mem", row.id)])),
    }


def _was_held(row: Memory) -> bool:
    """Whether the memory has anything to do with quarantine: others are not shown on this page."""
    return bool(row.findings) or row.status_reason == "held again"


def _spans(row: Memory) -> list[tuple[int, int, str]]:
    return [
        (int(one["span"][0]), int(one["span"][1]), plain(str(one.get("rule", ""))))
        for one in row.findings
        if one.get("field") == "content"
    ]


def _finding(row: Memory, one: dict[str, Any]) -> dict[str, Any]:
    name, (start, end) = str(one.get("field", "")), one.get("span", (0, 0))
    text = str(getattr(row, name)) if name in _FIELDS else ""
    return {
        "rule": one.get("rule", ""),
        "label": finding_label(one),
        "field": plain(name),
        "excerpt": text[int(start) : int(end)][:200] or "–",
    }


def _decoded(text: str) -> str:
    """What the text says once its disguise is undone; "" where there is none."""
    others = [view.text for view in views(text)[1:] if view.text.strip() and view.whole is not None]
    return "\n".join(dict.fromkeys(others))[:2000]


def _following(viewer: Viewer, asked: Asked, item: UUID) -> UUID | None:
    row = Memory.objects.filter(id=item).first()
    if row is None:
        raise Http404
    return found.next_in(asked.view, asked.q, row)


QUEUE = Queue(
    name="quarantine",
    one="quarantined",
    prefix="mem",
    views=(
        ("held", gettext_lazy("All held")),
        ("instructions", gettext_lazy("Instructions")),
        ("personal", gettext_lazy("Personal data")),
    ),
    rows=_rows,
    detail=_detail,
    following=_following,
    counts=lambda viewer: found.counts(),
)


@tenant_page("quarantine")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The queue with what was held last."""
    return queues.show(request, viewer, QUEUE)


@tenant_page("quarantine")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One held memory beside the queue."""
    return queues.show(request, viewer, QUEUE, row_id("mem", item))


@tenant_page("quarantine", read=None, write="review")
def decide(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Release it, or delete it after asking once more."""
    memory_id, reason = row_id("mem", item), request.POST.get("reason", "")
    action = request.POST.get("action", "")
    if action == "delete" and request.POST.get("confirmed") != "yes" and reason.strip():
        return queues.show(request, viewer, QUEUE, memory_id, confirm_delete=True, reason=reason)
    services: dict[str, tuple[Callable[..., Memory], str]] = {
        "release": (quarantine_release, _("Released. Agents of its scope get it from now on.")),
        "delete": (quarantine_delete, _("Deleted. It is purged after the retention time.")),
    }
    if action not in services:
        return queues.incomplete(request, viewer, QUEUE, memory_id, _("Choose release or delete."), reason)
    service, text = services[action]
    following = queues.following(request, viewer, QUEUE, memory_id)
    try:
        service(viewer.principal, memory_id, reason, version=version_of(request))
    except Invalid as error:
        return queues.incomplete(request, viewer, QUEUE, memory_id, sentence(error), reason)
    except (Conflict, VersionConflict) as error:
        clash = Clash(changed=[sentence(error)])
        return queues.too_late(request, viewer, QUEUE, memory_id, clash, reason)
    except ServiceError as error:
        return raise_or_deny(error)
    undo_url = url(viewer, "quarantine-undo", item)
    return queues.decided(request, viewer, QUEUE, memory_id, following, text, undo_url=undo_url)


@tenant_page("quarantine", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Hold it again."""
    memory_id = row_id("mem", item)
    try:
        quarantine_undo(viewer.principal, memory_id)
    except Conflict as error:
        clash = Clash(changed=[sentence(error)])
        return queues.too_late(request, viewer, QUEUE, memory_id, clash)
    except ServiceError as error:
        return raise_or_deny(error)
    text = _("Taken back. It is held again.")
    return queues.decided(request, viewer, QUEUE, memory_id, memory_id, text, relist=True)

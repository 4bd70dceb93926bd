"""Deciding several promotions at once: what will be decided, what is left out and why, doing it, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.domain.ids import parse_id, show_id
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, sentence, url, wants_part
from memory.pages.promotions import QUEUE, not_undone
from memory.services.errors import Conflict, Invalid
from memory.services.promotion_bulk import (
    MOST,
    Done,
    Sorted,
    bulk_sorted,
    promotions_decide,
    promotions_undo,
)
from tenants.context import tenant_context


@tenant_page("promotions", read="review", write="review")
def bulk(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Ask on GET, decide on POST."""
    if request.method == "POST":
        return _decide(request, viewer)
    action = "reject" if request.GET.get("action") == "reject" else "approve"
    return _ask(request, viewer, action, _ids(request.GET.getlist("id")))


def _decide(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    action, reason = request.POST.get("action", ""), request.POST.get("reason", "")
    items = _items(request.POST.getlist("id"))
    try:
        results = promotions_decide(viewer.principal, items, action, reason)
    except Invalid as error:
        ids = [one for one, _version in items]
        shown = action if action in ("approve", "reject") else "approve"
        return _ask(request, viewer, shown, ids, 422, error=sentence(error), reason=reason)
    text = _sentence(action, results)
    response = queues.relisted(request, viewer, QUEUE, text, undo_url=_undo_url(viewer, results))
    if wants_part(request):
        response["HX-Retarget"] = "#detail"
        response["HX-Trigger"] = "closeDialog"
    return response


@tenant_page("promotions", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Take back what one decided together.  The address names the decisions, each as `of`."""
    results = promotions_undo(viewer.principal, _decisions(request.GET.getlist("of")))
    back = sum(1 for one in results if one.request)
    kept = [(one.decision_id, one.error) for one in results if isinstance(one.error, Conflict)]
    if back:
        return queues.relisted(request, viewer, QUEUE, _taken_back(back, kept))
    if not kept:  # nobody's, another's, or none at all
        raise Http404
    return not_undone(request, viewer, *kept[0])


def _undo_url(viewer: Viewer, results: Sequence[Done]) -> str:
    decided = [("of", one.decided.decision.id.hex) for one in results if one.decided]
    return f"{url(viewer, 'promotions-bulk-undo')}?{urlencode(decided)}" if decided else ""


def _decisions(texts: Sequence[str]) -> list[UUID]:
    try:
        return [UUID(hex=text) for text in texts[:MOST]]
    except ValueError:
        raise Http404 from None


def _taken_back(back: int, kept: Sequence[tuple[UUID, Conflict]]) -> str:
    text = ngettext("%(n)d decision taken back.", "%(n)d decisions taken back.", back) % {"n": back}
    return f"{text} {_left(len(kept), sentence(kept[0][1]))}" if kept else text


def _left(count: int, why: str) -> str:
    more = ngettext(
        "%(n)d was left as it is: %(why)s.", "%(n)d were left as they are, one because: %(why)s.", count
    )
    return more % {"n": count, "why": why.rstrip(".")}


def _sentence(action: str, results: Sequence[Done]) -> str:
    done = sum(1 for one in results if one.decided)
    left = len(results) - done
    text = ngettext("%(n)d request decided.", "%(n)d requests decided.", done) % {"n": done}
    if left:
        text = f"{text} {_left(left, next(one.why for one in results if not one.decided))}"
    elif action == "approve" and done == 0:
        text = _("Nothing was selected.")
    return text


def _ask(
    request: HttpRequest, viewer: Viewer, action: str, ids: Sequence[UUID], status: int = 200, **more: Any
) -> HttpResponse:
    selection = bulk_sorted(viewer.principal, ids, action)
    context = {
        "action": action,
        "todo": [_row(one) for one in selection if not one.why],
        "skip": [{"p": _row(one), "why": one.why} for one in selection if one.why],
        "qs": queues.asked(request, QUEUE).qs,
        **more,
    }
    part = "_bulk" if wants_part(request) else "bulk"
    with tenant_context(viewer.tenant.id):
        return answer(request, QUEUE.template(part), context, status)


def _row(one: Sorted) -> dict[str, Any]:
    shown = show_id("prm", one.request.id)
    return {"id_text": shown, "value": one.memory.content, "version": one.request.version}


def _ids(texts: Sequence[str]) -> list[UUID]:
    return [one for one, _version in _items(texts)]


def _items(texts: Sequence[str]) -> list[tuple[UUID, int]]:
    """`prm_….3`: the request and the version that was shown; what cannot be read is left out."""
    found = []
    for text in texts:
        shown, _dot, version = text.partition(".")
        try:
            found.append((parse_id("prm", shown), int(version or 0)))
        except ValueError:
            continue
    return found

"""Deciding several promotions at once: what will be decided, what is left out and why, and then doing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.domain.ids import parse_id, show_id
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, sentence, wants_part
from memory.pages.promotions import QUEUE
from memory.services.errors import Invalid
from memory.services.promotion_bulk import Done, Sorted, bulk_sorted, promotions_decide
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
    response = queues.relisted(request, viewer, QUEUE, _sentence(action, results))
    if wants_part(request):
        response["HX-Retarget"] = "#detail"
        response["HX-Trigger"] = "closeDialog"
    return response


def _sentence(action: str, results: Sequence[Done]) -> str:
    done = sum(1 for one in results if one.decided)
    left = len(results) - done
    text = ngettext("%(n)d request decided.", "%(n)d requests decided.", done) % {"n": done}
    if left:
        why = next(one.why for one in results if not one.decided)
        more = ngettext(
            "%(n)d was left as it is: %(why)s.", "%(n)d were left as they are, one because: %(why)s.", left
        )
        text = f"{text} {more % {'n': left, 'why': why.rstrip('.')}}"
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

"""Putting a request off, bringing it back, asking its proposer and answering; none of it decides."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import raise_or_deny, row_id, sentence
from memory.pages.promotion_talk_shapes import unknown_choice, until
from memory.pages.promotions import QUEUE
from memory.pages.queue import Clash
from memory.services import promotion_talk as service
from memory.services.errors import Conflict, Invalid, ServiceError


@tenant_page("promotions", read=None, write="review")
def snooze(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Put it off until a moment on the viewer's clock, or bring it back (`until=now`)."""
    request_id, choice = row_id("prm", item), request.POST.get("until", "")
    following = queues.following(request, viewer, QUEUE, request_id)
    try:
        if choice == "now":
            service.promotion_wake(viewer.principal, request_id)
            text = _("It is back among what needs you.")
            return queues.decided(request, viewer, QUEUE, request_id, request_id, text, relist=True)
        moment = until(viewer, choice, clock.now())
        if moment is None:
            raise Invalid(unknown_choice())
        service.promotion_snooze(viewer.principal, request_id, moment)
    except ServiceError as error:
        return _refused(request, viewer, request_id, error)
    text = _("Put off. It comes back by itself, to you alone; others see it as before.")
    return queues.decided(request, viewer, QUEUE, request_id, following, text, relist=True)


@tenant_page("promotions", read=None, write="review")
def ask(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask the proposer; or, for the person who proposed it, answer."""
    request_id, text = row_id("prm", item), request.POST.get("text", "")
    try:
        if request.POST.get("as") == "answer":
            service.promotion_answer(viewer.principal, request_id, text)
            said = _("Answered.")
        else:
            service.promotion_ask(viewer.principal, request_id, text)
            said = _("Asked. The request waits for the answer, and for your decision whenever you like.")
    except ServiceError as error:
        return _refused(request, viewer, request_id, error, text)
    return queues.decided(request, viewer, QUEUE, request_id, request_id, said, relist=True)


def _refused(
    request: HttpRequest, viewer: Viewer, request_id: UUID, error: ServiceError, text: str = ""
) -> HttpResponse:
    """What was typed comes back, in its field or beside what changed."""
    if isinstance(error, Invalid):
        more = {"talk_error": sentence(error), "talk_text": text}
        return queues.show(request, viewer, QUEUE, request_id, 422, **more)
    if isinstance(error, Conflict):
        return queues.too_late(request, viewer, QUEUE, request_id, Clash(changed=[sentence(error)]), text)
    return raise_or_deny(error)

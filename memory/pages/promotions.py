"""Promotions: the queue, one request, and deciding it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.models import PromotionRequest
from memory.pages import promotion_shapes as shapes
from memory.pages import queue as queues
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import raise_or_deny, row_id, sentence, url, version_of
from memory.pages.queue import Asked, Clash, Queue
from memory.selectors import pages_promotions as found
from memory.services.errors import Conflict, Invalid, ServiceError, VersionConflict
from memory.services.promotion_decide import Decided, promotion_decide, promotion_undo
from memory.services.promotion_take_back import promotion_take_back
from tenants.context import tenant_context


def _following(viewer: Viewer, asked: Asked, item: UUID) -> UUID | None:
    request = PromotionRequest.objects.filter(id=item).first()
    if request is None:
        raise Http404
    return found.next_in(asked.view, asked.q, viewer.principal.id, request, asked.sort or "new")


QUEUE = Queue(
    name="promotions",
    one="promotion",
    prefix="prm",
    views=(
        ("needs", gettext_lazy("Needs me")),
        ("high", gettext_lazy("High risk")),
        ("conflicts", gettext_lazy("Conflicts")),
        ("snoozed", gettext_lazy("Put off")),
        ("all", gettext_lazy("All")),
        ("decided", gettext_lazy("Decided")),
    ),
    rows=shapes.rows,
    detail=shapes.detail,
    following=_following,
    counts=lambda viewer: found.counts(viewer.principal.id),
    sorts=(
        ("new", gettext_lazy("Newest first")),
        ("old", gettext_lazy("Oldest first")),
        ("risk", gettext_lazy("By risk")),
        ("reach", gettext_lazy("By reach")),
    ),
)
_DONE = {
    "approve": gettext_lazy("Approved. Agents that read %(scope)s get it from now on."),
    "reject": gettext_lazy("Rejected. The proposer sees the reason."),
    "quarantine": gettext_lazy("Sent to quarantine. No agent gets it."),
}
_DID = {
    "approve": gettext_lazy("approved it"),
    "reject": gettext_lazy("rejected it"),
    "quarantine": gettext_lazy("sent it to quarantine"),
}


@tenant_page("promotions")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The queue with its first request."""
    return queues.show(request, viewer, QUEUE)


@tenant_page("promotions")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One request beside the queue."""
    return queues.show(request, viewer, QUEUE, row_id("prm", item))


@tenant_page("promotions", read=None, write="review")
def decide(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Approve, reject or quarantine."""
    request_id, reason = row_id("prm", item), request.POST.get("reason", "")
    following = queues.following(request, viewer, QUEUE, request_id)
    try:
        result = promotion_decide(
            viewer.principal,
            request_id,
            request.POST.get("action", ""),
            reason=reason,
            version=version_of(request),
        )
    except ServiceError as error:
        return _refused(request, viewer, request_id, error, reason)
    undo_url = url(viewer, "promotion-undo", result.decision.id.hex)
    return queues.decided(request, viewer, QUEUE, request_id, following, _sentence(result), undo_url=undo_url)


@tenant_page("promotions", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, decision: str) -> HttpResponse:
    """Take one's own decision back, and look at the request again."""
    decision_id = _decision_id(decision)
    try:
        undone = promotion_undo(viewer.principal, decision_id)
    except ServiceError as error:
        return not_undone(request, viewer, decision_id, error)
    return _waits_again(request, viewer, undone)


@tenant_page("promotions", read=None, write="review")
def take_back(request: HttpRequest, viewer: Viewer, decision: str) -> HttpResponse:
    """Take an approval of the policy, of somebody else or of long ago back."""
    decision_id, reason = _decision_id(decision), request.POST.get("reason", "")
    try:
        undone = promotion_take_back(viewer.principal, decision_id, reason)
    except Invalid as error:
        with tenant_context(viewer.tenant.id):
            request_id = found.request_of(decision_id)
        assert request_id is not None  # it was found
        return queues.incomplete(request, viewer, QUEUE, request_id, sentence(error), reason)
    except ServiceError as error:
        return not_undone(request, viewer, decision_id, error)
    return _waits_again(request, viewer, undone)


def _decision_id(decision: str) -> UUID:
    try:
        return UUID(hex=decision)
    except ValueError:
        raise Http404 from None


def _waits_again(request: HttpRequest, viewer: Viewer, undone: PromotionRequest) -> HttpResponse:
    text = _("Taken back. The request waits again.")
    return queues.decided(request, viewer, QUEUE, undone.id, undone.id, text, relist=True)


def _sentence(result: Decided) -> str:
    if result.waits_for_more:
        return _("Your approval is noted. It waits for another reviewer.")
    return str(_DONE[result.decision.action]) % {"scope": result.request.to_scope}


def _refused(
    request: HttpRequest, viewer: Viewer, request_id: UUID, error: ServiceError, reason: str
) -> HttpResponse:
    if isinstance(error, Invalid):
        return queues.incomplete(request, viewer, QUEUE, request_id, sentence(error), reason)
    if isinstance(error, Conflict | VersionConflict):
        return queues.too_late(request, viewer, QUEUE, request_id, _clash(viewer, request_id, error), reason)
    return raise_or_deny(error)


def not_undone(request: HttpRequest, viewer: Viewer, decision_id: UUID, error: ServiceError) -> HttpResponse:
    """409: the request of a decision as it is now, and why the decision stays."""
    if not isinstance(error, Conflict):
        return raise_or_deny(error)
    with tenant_context(viewer.tenant.id):
        request_id = found.request_of(decision_id)
    if request_id is None:
        raise Http404
    clash = Clash(changed=[sentence(error)])
    return queues.too_late(request, viewer, QUEUE, request_id, clash)


def _clash(viewer: Viewer, request_id: UUID, error: ServiceError) -> Clash:
    """Who was faster and what they did; or, when nobody decided, what changed."""
    if error.code == "already_decided":
        with tenant_context(viewer.tenant.id):
            last = next((one for one in found.decisions_on(request_id) if one.undone_at is None), None)
        if last is not None:
            return Clash(last.actor_name, str(_DID.get(last.action, last.action)), last.reason)
    return Clash(changed=[sentence(error)])

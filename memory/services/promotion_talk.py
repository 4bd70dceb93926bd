"""Beside a decision: putting a request off, asking its proposer, and the proposer's answer.  None of it decides."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.sanitisation import scan_secrets
from memory.domain.sanitisation.redaction import redact
from memory.models import PromotionNote, PromotionRequest
from memory.selectors.listing import promotions
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.store import audit, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

LONGEST_SNOOZE = timedelta(days=90)
LONGEST_TEXT = 1000
MOST_QUESTIONS = 20


@denials_audited
def promotion_snooze(actor: Principal, request_id: UUID, until: datetime) -> PromotionNote:
    """Take an open request out of the actor's own "needs me" until a moment (aware), when it comes back by itself.

    Others see it as before.  Raises `Invalid` for a moment that is past or over 90 days away, `Conflict` when it was
    decided.
    """
    require_role(actor, REVIEWERS, "put requests off")
    now = clock.now()
    if not now < until <= now + LONGEST_SNOOZE:
        raise Invalid("choose a moment within the next 90 days", field="until")
    with tenant_context(actor.tenant_id):
        request = _open(request_id)
        reviews.end_snoozes(request.id, actor.id, now)
        note = reviews.insert_note(_note(request, actor, "snooze", "", now, until=until))
        _told(actor, request, "promotion.snoozed", now, after={"until": until.isoformat()})
    return note


@denials_audited
def promotion_wake(actor: Principal, request_id: UUID) -> None:
    """Bring a request that the actor put off back at once.  Waking what is awake changes nothing."""
    require_role(actor, REVIEWERS, "put requests off")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        request = _open(request_id)
        if reviews.end_snoozes(request.id, actor.id, now):
            _told(actor, request, "promotion.woken", now)


@denials_audited
def promotion_ask(actor: Principal, request_id: UUID, text: str) -> PromotionNote:
    """Put a question to the proposer, who finds it in the request.  It decides nothing."""
    require_role(actor, REVIEWERS, "ask proposers")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        request = _open(request_id)
        if PromotionNote.objects.filter(request_id=request.id, kind="question").count() >= MOST_QUESTIONS:
            raise Conflict("enough was asked about this request; decide it", code="too_many_questions")
        note = reviews.insert_note(_note(request, actor, "question", _said(text), now))
        _told(actor, request, "promotion.asked", now)
    return note


@denials_audited
def promotion_answer(actor: Principal, request_id: UUID, text: str) -> PromotionRequest:
    """The proposer answers the questions that are open.  Raises `NotFound` for a request that is not the actor's."""
    now = clock.now()
    with tenant_context(actor.tenant_id):
        mine = promotions(actor).filter(id=request_id, proposer_id=actor.id).first()
        if mine is None:
            raise NotFound("there is no such promotion request of this proposer")
        request = _open(request_id)
        last = (
            PromotionNote.objects.filter(request_id=request.id)
            .exclude(kind="snooze")
            .order_by("-at", "-id")
            .first()
        )
        if last is None or last.kind != "question":
            raise Conflict("nothing was asked that waits for an answer", code="nothing_to_do")
        reviews.insert_note(_note(request, actor, "answer", _said(text), now))
        _told(actor, request, "promotion.answered", now)
    return request


def _open(request_id: UUID) -> PromotionRequest:
    request = reviews.lock_request(request_id)
    if request is None:
        raise NotFound("there is no such promotion request")
    if request.status != "pending":
        raise Conflict(f"the request is {request.status} already", code="already_decided")
    return request


def _said(text: str) -> str:
    """The text, with what must never be stored redacted: a question may quote what an agent wrote."""
    text = text.strip()
    if not text or len(text) > LONGEST_TEXT:
        raise Invalid(f"write 1 to {LONGEST_TEXT} characters", field="text")
    return redact(text, scan_secrets(text))


def _note(
    request: PromotionRequest, actor: Principal, kind: str, text: str, now: datetime,
    until: datetime | None = None,
) -> PromotionNote:  # fmt: skip
    return PromotionNote(
        request_id=request.id,
        kind=kind,
        text=text,
        actor_id=actor.id,
        actor_name=actor.name,
        at=now,
        until=until,
    )


def _told(actor: Principal, request: PromotionRequest, action: str, now: datetime, **more: object) -> None:
    shown = show_id("prm", request.id)
    event = audit.Event(action, "promotion", shown, scope=request.to_scope, **more)  # type: ignore[arg-type]
    audit.append(actor, [event], now)

"""Deciding several promotions at once, and taking back together what was decided together."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from memory.models import AuditEvent, Memory, PromotionDecision, PromotionRequest
from memory.services.promotion_decide import promotion_undo
from tests.factories import make_person, make_tenant
from tests.pages.staging import Full, ask, prm, signed_in, status, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


def test_bulk__leaves_out_what_needs_a_closer_look_and_says_why(full: Full, reviewer: Client) -> None:
    coder = full.stage.coder
    plain = ask(coder, write(coder, content="Deploys of alpha run on Tuesdays at noon UTC."))
    keyed = {"subject": "service:billing", "predicate": "owner", "content": None, "origin": "user_explicit"}
    write(full.stage.orchestrator, **keyed, value="Team Harbour", scope="shared")
    risky = ask(coder, write(coder, **keyed, value="Team Lighthouse"))
    ids = [prm(full.request), prm(plain), prm(risky)]
    asked = reviewer.get(full.at("promotions/bulk/"), {"action": "approve", "id": ids}).content.decode()
    assert "Approve 2 requests?" in asked and "1 is left as it is" in asked
    answer = reviewer.post(
        full.at("promotions/bulk/"),
        {"action": "approve", "reason": "", "id": [f"{one}.1" for one in ids]},
        headers={"HX-Request": "true", "HX-Target": "dlg-body"},
    )
    assert answer.status_code == 200
    assert answer["HX-Retarget"] == "#detail" and answer["HX-Trigger"] == "closeDialog"
    with full.stage.context():
        found = dict(PromotionRequest.objects.values_list("id", "status"))
    assert [found[one.id] for one in (full.request, plain, risky)] == ["approved", "approved", "pending"]


def test_bulk__reject_without_a_reason__is_asked_for(full: Full, reviewer: Client) -> None:
    sent = {"action": "reject", "reason": " ", "id": f"{prm(full.request)}.1"}
    assert reviewer.post(full.at("promotions/bulk/"), sent).status_code == 422
    assert status(full) == "pending"


def _two_approved(full: Full, reviewer: Client, **headers: str) -> tuple[PromotionRequest, Any]:
    """The stage's request and another, approved together; the other, and the answer."""
    other = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    )
    sent = {"action": "approve", "reason": "", "id": [f"{prm(one)}.1" for one in (full.request, other)]}
    answer = reviewer.post(full.at("promotions/bulk/"), sent, headers=headers)
    assert statuses(full, full.request, other) == ["approved", "approved"]
    return other, answer


def statuses(full: Full, *requests: PromotionRequest) -> list[str]:
    with full.stage.context():
        return [PromotionRequest.objects.get(id=one.id).status for one in requests]


def _undo_in(page: str) -> str:
    """The address of the Undo in a message."""
    found = re.search(r'action="([^"]*/promotions/bulk/undo/[^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.parametrize("htmx", [False, True])
def test_bulk__is_taken_back_by_one_form_with_and_without_htmx(
    full: Full, reviewer: Client, htmx: bool
) -> None:
    sent = {"HX-Request": "true", "HX-Target": "dlg-body"} if htmx else {}
    other, answer = _two_approved(full, reviewer, **sent)
    page = (answer if htmx else reviewer.get(answer["Location"])).content.decode()
    back = reviewer.post(_undo_in(page), headers=HX if htmx else {})
    assert back.status_code == (200 if htmx else 303)
    told = (back if htmx else reviewer.get(back["Location"])).content.decode()
    assert "2 decisions taken back." in told and "bulk/undo" not in told
    assert statuses(full, full.request, other) == ["pending", "pending"]
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).scope == "project:alpha"
        assert AuditEvent.objects.filter(action="promotion.reopened").count() == 2
    again = reviewer.post(_undo_in(page), headers=HX if htmx else {})
    assert again.status_code == 409 and "changed since" in again.content.decode()


def test_bulk_undo__of_which_one_was_taken_back_already__takes_back_the_rest(
    full: Full, reviewer: Client
) -> None:
    other, answer = _two_approved(full, reviewer)
    where = _undo_in(reviewer.get(answer["Location"]).content.decode())
    with full.stage.context():
        decision = PromotionDecision.objects.get(request_id=other.id)
    promotion_undo(full.stage.reviewer.principal, decision.id)
    text = reviewer.get(reviewer.post(where)["Location"]).content.decode()
    assert "1 decision taken back." in text and "1 was left as it is: The request has changed since" in text
    assert status(full) == "pending"


def test_bulk_undo__too_late_or_of_somebody_else__changes_nothing(full: Full, reviewer: Client) -> None:
    other, answer = _two_approved(full, reviewer)
    where = _undo_in(reviewer.get(answer["Location"]).content.decode())
    before = statuses(full, full.request, other)
    somebody = signed_in(make_person(full.stage.tenant, "reviewer"))
    assert somebody.post(where).status_code == 404, "only one's own decisions"
    assert signed_in(make_person(full.stage.tenant, "auditor")).post(where).status_code == 403
    stranger = make_tenant(name="Other tenant")
    foreign = where.replace(full.stage.tenant.slug, stranger.tenant.slug)
    assert signed_in(stranger.reviewer).post(foreign).status_code == 404
    assert signed_in(stranger.reviewer).post(where).status_code == 404
    for wrong in ("", "?of=", "?of=x", "?of=" + "0" * 32, "?of=%00"):
        assert reviewer.post(full.at("promotions/bulk/undo/") + wrong).status_code in (400, 404)
    assert reviewer.get(where).status_code == 405
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=11)):
        late = signed_in(full.stage.reviewer).post(where)
        assert late.status_code == 409 and "10 minutes" in late.content.decode()
    assert statuses(full, full.request, other) == before
    assert reviewer.post(where).status_code == 303, "the positive control"


def test_bulk__of_nothing__offers_no_undo(full: Full, reviewer: Client) -> None:
    answer = reviewer.post(full.at("promotions/bulk/"), {"action": "approve", "id": []})
    assert "bulk/undo" not in reviewer.get(answer["Location"]).content.decode()

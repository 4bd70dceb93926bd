"""Deciding one promotion: what it does, how it is taken back, and what happens when someone was faster."""

from __future__ import annotations

import threading
from datetime import timedelta

import time_machine
from django.db import connections
from django.test import Client

from memory.models import AuditEvent, Memory, PromotionDecision, PromotionRequest
from memory.services.memory_edit import memory_edit
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from tests.factories import make_person
from tests.pages.staging import Full, ask, prm, signed_in, status, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


def decide(browser: Client, full: Full, action: str, **more: object):  # type: ignore[no-untyped-def]
    """Send the decision form of the stage's request."""
    headers = more.pop("headers", {})
    sent = {"action": action, "version": full.request.version, "reason": "", **more}
    return browser.post(full.at(f"promotions/{prm(full.request)}/decide/?view=all"), sent, headers=headers)


def test_approve__without_htmx__redirects_with_an_undo_form(full: Full, reviewer: Client) -> None:
    answer = decide(reviewer, full, "approve")
    assert answer.status_code == 303
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).scope == "shared"
        decision = PromotionDecision.objects.get(request_id=full.request.id)
    assert status(full) == "approved"
    page = reviewer.get(answer["Location"]).content.decode()
    assert f"decisions/{decision.id.hex}/undo/" in page
    again = reviewer.get(answer["Location"]).content.decode()
    assert "data-toast><" not in again.split("<template")[0], "the message is shown once"


def test_approve__with_htmx__answers_the_next_item_and_what_changed(full: Full, reviewer: Client) -> None:
    second = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    )
    answer = decide(reviewer, full, "approve", headers=HX)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert prm(second) in answer["HX-Push-Url"]
    assert f'id="row-{prm(full.request)}" hx-swap-oob="delete"' in text
    assert 'id="count-promotions"' in text and "undo/" in text
    assert "<html" not in text


def test_reject__without_a_reason__is_asked_for_and_keeps_what_was_typed(
    full: Full, reviewer: Client
) -> None:
    for headers in ({}, HX):
        answer = decide(reviewer, full, "reject", reason="  ", headers=headers)
        assert answer.status_code == 422
        assert b"aria-invalid" in answer.content
    assert status(full) == "pending"
    assert decide(reviewer, full, "reject", reason="too narrow").status_code == 303
    assert status(full) == "rejected"


def test_quarantine__holds_the_memory(full: Full, reviewer: Client) -> None:
    assert decide(reviewer, full, "quarantine", reason="planted").status_code == 303
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).status == "quarantined"


def test_decide__after_another_reviewer__is_409_and_names_them(full: Full, reviewer: Client) -> None:
    other = make_person(full.stage.tenant, "reviewer", name="Ada Fictional")
    promotion_decide(other.principal, full.request.id, "reject", reason="not general", version=1)
    for headers in ({}, HX):
        answer = decide(reviewer, full, "approve", headers=headers)
        text = answer.content.decode()
        assert answer.status_code == 409
        assert "Ada Fictional" in text and "not general" in text
    assert status(full) == "rejected"


def test_approve__of_a_memory_that_changed__is_409_and_shows_it_as_it_is_now(
    full: Full, reviewer: Client
) -> None:
    new = "The staging cluster runs in region eu-west-9 behind the red gateway."
    memory_edit(full.stage.coder.principal, full.memory.id, {"content": new}, version=1)
    answer = decide(reviewer, full, "approve", headers=HX)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "eu-west-9" in text and "changed" in text
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).scope == "project:alpha"


def test_decide__with_a_stale_or_missing_version__is_409(full: Full, reviewer: Client) -> None:
    for version in ("7", "", "x", "-1", "1e3"):
        assert decide(reviewer, full, "approve", version=version).status_code == 409, version
    assert status(full) == "pending"


def test_own_proposal__cannot_be_approved_and_says_so(full: Full) -> None:
    person = make_person(full.stage.tenant, "reviewer")
    memory = write(full.stage.coder, content="Release notes of alpha live in the handbook, chapter nine.")
    from memory.domain.scopes import parse_scope

    mine = promotion_request(person.principal, memory.id, parse_scope("shared"), "useful")
    browser = signed_in(person)
    text = browser.get(full.at(f"promotions/{prm(mine)}/")).content.decode()
    assert 'aria-disabled="true"' in text and "You proposed this" in text
    sent = {"action": "approve", "version": mine.version}
    assert browser.post(full.at(f"promotions/{prm(mine)}/decide/"), sent).status_code == 403
    with full.stage.context():
        assert PromotionRequest.objects.get(id=mine.id).status == "pending"
        assert AuditEvent.objects.filter(action="access.denied", actor_id=person.principal.id).count() == 1


def undo_url(full: Full) -> str:
    with full.stage.context():
        return full.at(f"decisions/{PromotionDecision.objects.get(request_id=full.request.id).id.hex}/undo/")


def test_undo__within_ten_minutes__opens_the_request_again(full: Full, reviewer: Client) -> None:
    decide(reviewer, full, "approve")
    assert b"data-undo" in reviewer.get(full.base).content, "the start page offers it as well"
    answer = reviewer.post(undo_url(full), headers=HX)
    assert answer.status_code == 200 and b'id="list"' in answer.content
    assert status(full) == "pending"
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).scope == "project:alpha"
    assert reviewer.post(undo_url(full)).status_code == 409, "once is enough"


def test_undo__by_someone_else__finds_nothing(full: Full, reviewer: Client, owner: Client) -> None:
    decide(reviewer, full, "approve")
    assert owner.post(undo_url(full)).status_code == 404
    assert status(full) == "approved"


def test_undo__after_ten_minutes__is_refused_and_no_longer_offered(full: Full, reviewer: Client) -> None:
    reviewer.get(decide(reviewer, full, "approve")["Location"])
    where = undo_url(full)
    with full.stage.context():
        at = PromotionDecision.objects.get(request_id=full.request.id).at
    with time_machine.travel(at + timedelta(minutes=11), tick=False):
        assert b"data-undo" not in reviewer.get(full.at(f"promotions/{prm(full.request)}/")).content
        for headers in ({}, HX):
            assert reviewer.post(where, headers=headers).status_code == 409
    assert status(full) == "approved"


def test_undo__after_the_memory_changed__is_refused(full: Full, reviewer: Client) -> None:
    decide(reviewer, full, "approve")
    new = "The staging cluster runs in region eu-west-9 behind the red gateway."
    memory_edit(full.stage.owner.principal, full.memory.id, {"content": new}, version=2)
    answer = reviewer.post(undo_url(full), headers=HX)
    assert answer.status_code == 409 and b"changed since" in answer.content
    assert status(full) == "approved"


def test_decide__twice_at_the_same_time__is_done_once(full: Full) -> None:
    browsers = [signed_in(make_person(full.stage.tenant, "reviewer")) for _ in range(2)]
    gate, answers = threading.Barrier(2), []

    def press(browser: Client) -> None:
        gate.wait()
        try:
            answers.append(decide(browser, full, "approve").status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=press, args=[browser]) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 409]
    with full.stage.context():
        assert PromotionDecision.objects.filter(request_id=full.request.id).count() == 1


def test_take_back__after_the_undo_of_another__offered_asks_for_a_reason_and_reopens(
    full: Full, reviewer: Client, owner: Client
) -> None:
    decide(reviewer, full, "approve")
    here, where = full.at(f"promotions/{prm(full.request)}/"), undo_url(full).replace("/undo/", "/take-back/")
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    assert where.encode() in owner.get(here).content and where.encode() not in auditor.get(here).content
    assert auditor.post(where, {"reason": "wrong"}).status_code == 403
    for headers in ({}, HX):
        missing = owner.post(where, {"reason": " "}, headers=headers)
        assert missing.status_code == 422 and b"take-back-err" in missing.content
    assert status(full) == "approved"
    assert owner.post(where, {"reason": "only alpha does that"}, headers=HX).status_code == 200
    assert status(full) == "pending"
    page = owner.get(here).content.decode()
    assert "only alpha does that" in page and "/take-back/" not in page
    assert owner.post(where, {"reason": "again"}).status_code == 409
    assert owner.post(full.at("decisions/none/take-back/"), {"reason": "x"}).status_code == 404

"""The promotion queue: what is shown, what a decision does, and what happens when someone was faster."""

from __future__ import annotations

import html
import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connections
from django.test import Client

from memory.models import AuditEvent, Memory, PromotionDecision, PromotionRequest
from memory.selectors import pages_paging, pages_promotions
from memory.services.memory_edit import memory_edit
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide, promotion_undo
from tests.factories import make_agent, make_person, make_tenant
from tests.pages.staging import Full, ask, prm, signed_in, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


def decide(browser: Client, full: Full, action: str, **more: object):  # type: ignore[no-untyped-def]
    """Send the decision form of the stage's request."""
    headers = more.pop("headers", {})
    sent = {"action": action, "version": full.request.version, "reason": "", **more}
    return browser.post(full.at(f"promotions/{prm(full.request)}/decide/?view=all"), sent, headers=headers)


def status(full: Full) -> str:
    with full.stage.context():
        return PromotionRequest.objects.get(id=full.request.id).status


def test_queue__as_reviewer__shows_the_request_and_who_will_read_it(full: Full, reviewer: Client) -> None:
    newcomer = make_agent(full.stage.tenant, "writer", name="newcomer-of-the-reach")
    answer = reviewer.get(full.at("promotions/"))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert full.memory.content in text
    assert newcomer.agent.name in text
    assert full.stage.orchestrator.agent.name not in text, "it reads the source scope already"
    assert answer["Cache-Control"] == "no-store"
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_detail__with_a_rival_in_the_target__shows_both_wordings_and_the_conflict(
    full: Full, reviewer: Client
) -> None:
    keyed = {"subject": "service:billing", "predicate": "owner", "content": None}
    write(full.stage.orchestrator, **keyed, value="Team Harbour", scope="shared", origin="user_explicit")
    mine = write(
        full.stage.coder, **keyed, value="Team Lighthouse", scope="project:alpha", origin="user_explicit"
    )
    request = ask(full.stage.coder, mine)
    text = reviewer.get(full.at(f"promotions/{prm(request)}/?view=conflicts"), headers=HX).content.decode()
    assert "Harbour" in text and "Lighthouse" in text
    assert "Conflict" in text and "High risk" in text
    listed = reviewer.get(full.at("promotions/?view=conflicts")).content.decode()
    assert f"row-{prm(request)}" in listed and f"row-{prm(full.request)}" not in listed


def test_search__by_text_subject_or_agent__finds_the_request(full: Full, reviewer: Client) -> None:
    row = f"row-{prm(full.request)}"
    for q in ("blue gateway", full.stage.coder.agent.name):
        assert row in reviewer.get(full.at("promotions/"), {"q": q}).content.decode(), q
    nothing = reviewer.get(full.at("promotions/"), {"q": "no such thing"}).content.decode()
    assert row not in nothing and "Nothing matches" in nothing


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


def _far_back(full: Full, monkeypatch: pytest.MonkeyPatch) -> list[PromotionRequest]:
    """Two requests that clash, behind more plain ones than are looked at for one page."""
    for module in (pages_paging, pages_promotions):
        monkeypatch.setattr(module, "SEARCHED", 4)
    clashing = []
    for at in range(2):
        keyed = {"subject": f"service:{at}", "predicate": "owner", "content": None, "origin": "user_explicit"}
        write(full.stage.orchestrator, **keyed, value="Team Harbour", scope="shared")
        clashing.append(ask(full.stage.coder, write(full.stage.coder, **keyed, value="Team Lighthouse")))
    for at in range(9):
        text = f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        ask(full.stage.coder, write(full.stage.coder, content=text))
    return clashing


def _walked(reviewer: Client, full: Full, query: str) -> list[str]:
    """The requests of all pages of a view, by its links."""
    where, seen, pages = full.at(f"promotions/?{query}"), [], 0
    while where and pages < 20:
        page = reviewer.get(where).content.decode()
        seen += re.findall(r'id="row-(prm_[0-9a-f]+)"', page)
        link = re.search(r'href="([^"]*after=[^"]*)"', page)
        where, pages = html.unescape(link[1]) if link else "", pages + 1
    return seen


def test_conflicts__further_back_than_one_look__are_all_found(
    full: Full, reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _far_back(full, monkeypatch)
    page = reviewer.get(full.at("promotions/?view=conflicts")).content.decode()
    assert "Look further back" in page and "The queue is clear" not in page
    assert re.search(r'view=conflicts[^>]*>[^<]*<span class="n">0\+</span>', page), "it is said to be cut"
    assert _walked(reviewer, full, "view=conflicts") == [prm(second), prm(first)]
    assert _walked(reviewer, full, "view=conflicts&sort=old") == [prm(first), prm(second)]
    assert _walked(reviewer, full, "view=conflicts&q=Lighthouse") == [prm(second), prm(first)]
    assert len(_walked(reviewer, full, "view=all")) == 12, "the control: all that wait"
    after = pages_promotions.next_in
    with full.stage.context():
        assert after("conflicts", "", full.stage.reviewer.principal.id, second) == first.id


def test_conflicts__by_risk__says_that_it_does_not_look_at_all(
    full: Full, reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    _far_back(full, monkeypatch)
    cut = "only the newest 3,000 requests are looked through"
    for query in ("view=conflicts&sort=risk", "view=all&sort=reach&q=rack"):
        assert cut in reviewer.get(full.at(f"promotions/?{query}")).content.decode()
    for query in ("view=conflicts", "view=all&sort=risk", "view=all&q=rack"):
        assert cut not in reviewer.get(full.at(f"promotions/?{query}")).content.decode()


def test_queue__longer_than_a_page__is_walked_by_links(full: Full, reviewer: Client) -> None:
    import re

    from memory.selectors.pages_paging import PAGE

    made = [prm(full.request)]
    for at in range(PAGE + 3):
        place = write(
            full.stage.coder, content=f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        )
        made.append(prm(ask(full.stage.coder, place)))
    seen, page = [], reviewer.get(full.at("promotions/"), {"view": "all"}).content.decode()
    while True:
        seen += re.findall(r'id="row-(prm_[0-9a-f]{32})"', page)
        older = re.search(r'more-rows"><a class="btn sm" href="([^"]+)"', page)
        if not older:
            break
        page = reviewer.get(older[1].replace("&amp;", "&")).content.decode()
    assert seen == made[::-1]

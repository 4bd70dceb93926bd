"""Beside the decision: putting off, asking, order, presence, and what was decided about the like."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from memgov import clock
from memory.domain.scopes import parse_scope
from memory.models import AuditEvent, PromotionNote, PromotionRequest
from memory.services.errors import Denied, Invalid, NotFound
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.promotion_talk import promotion_answer, promotion_ask, promotion_snooze
from tenants.models import User
from tests.factories import make_person
from tests.pages.staging import Full, ask, prm, signed_in, write

TOWNS = "Aston Breda Calix Delft Ennis Faroe Genoa Hamar Izmir Jever Kuopio".split()


def text_of(answer: object) -> str:
    body = re.sub(r"<[^>]+>", " ", answer.content.decode())  # type: ignore[attr-defined]
    return " ".join(html.unescape(body).split())


def waiting(browser: Client, full: Full, view: str = "needs", **query: str) -> list[str]:
    """The ids of the queue, in its order."""
    page = browser.get(full.at("promotions/"), {"view": view, **query}).content.decode()
    return re.findall(r'<li id="row-(prm_\w+)"', page)


def put_off(browser: Client, full: Full, choice: str) -> object:
    return browser.post(full.at(f"promotions/{prm(full.request)}/snooze/"), {"until": choice})


def note(full: Full) -> PromotionNote:
    with full.stage.context():
        return PromotionNote.objects.order_by("-at").first()  # type: ignore[return-value]


def test_snooze__leaves_ones_own_queue_and_comes_back_by_itself(full: Full) -> None:
    browser, other = signed_in(full.stage.reviewer), signed_in(full.stage.owner)
    assert waiting(browser, full) == [prm(full.request)]
    assert put_off(browser, full, "later").status_code == 303  # type: ignore[attr-defined]
    assert waiting(browser, full) == [] and waiting(browser, full, "snoozed") == [prm(full.request)]
    assert waiting(other, full) == [prm(full.request)], "others see it as before"
    assert "You put it off until" in text_of(browser.get(full.at(f"promotions/{prm(full.request)}/")))
    assert (
        "put it off"
        not in text_of(other.get(full.at(f"promotions/{prm(full.request)}/"))).lower().split("history")[1]
    )
    with time_machine.travel(clock.now() + timedelta(hours=3, minutes=1), tick=False):
        back = signed_in(full.stage.reviewer)
        assert waiting(back, full) == [prm(full.request)] and waiting(back, full, "snoozed") == []
    with full.stage.context():
        assert AuditEvent.objects.filter(action="promotion.snoozed").count() == 1


def test_snooze__taken_back__is_there_at_once_and_may_still_be_decided(full: Full, reviewer: Client) -> None:
    put_off(reviewer, full, "tomorrow")
    put_off(reviewer, full, "now")
    assert waiting(reviewer, full) == [prm(full.request)]
    put_off(reviewer, full, "monday")
    sent = {"action": "approve", "version": "1", "reason": "checked"}
    assert reviewer.post(full.at(f"promotions/{prm(full.request)}/decide/"), sent).status_code == 303
    late = put_off(reviewer, full, "later")
    assert late.status_code == 409 and "approved already" in text_of(late)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("zone", "now", "choice", "expected"),
    [
        # Monday the 7th; in Auckland it is Tuesday already, which decides what tomorrow is.
        ("UTC", "2026-12-07T20:00", "tomorrow", "2026-12-08T09:00"),
        ("Pacific/Auckland", "2026-12-07T20:00", "tomorrow", "2026-12-08T20:00"),
        ("America/Los_Angeles", "2026-12-07T03:00", "tomorrow", "2026-12-07T17:00"),
        ("Europe/Vienna", "2026-12-07T20:00", "monday", "2026-12-14T08:00"),
        # The night in which the clocks go forward: nine is nine on the wall.
        ("Europe/Vienna", "2026-03-28T20:00", "tomorrow", "2026-03-29T07:00"),
    ],
)
def test_snooze__until_a_morning__is_the_morning_of_the_viewers_clock(
    full: Full, zone: str, now: str, choice: str, expected: str
) -> None:
    User.objects.filter(id=full.stage.reviewer.user.id).update(time_zone=zone)
    with time_machine.travel(datetime.fromisoformat(now).replace(tzinfo=UTC), tick=False):
        put_off(signed_in(full.stage.reviewer), full, choice)
    assert note(full).until == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize("choice", ["", "yesterday", "2026-01-01"])
def test_snooze__until_nothing_we_offer__changes_nothing(full: Full, reviewer: Client, choice: str) -> None:
    assert put_off(reviewer, full, choice).status_code == 422  # type: ignore[attr-defined]
    with full.stage.context():
        assert not PromotionNote.objects.exists()


def test_snooze__too_far_past_or_by_an_auditor__is_refused(full: Full) -> None:
    who = full.stage.reviewer.principal
    for until in (clock.now() - timedelta(minutes=1), clock.now() + timedelta(days=91)):
        with pytest.raises(Invalid):
            promotion_snooze(who, full.request.id, until)
    auditor = make_person(full.stage.tenant, "auditor")
    with pytest.raises(Denied):
        promotion_snooze(auditor.principal, full.request.id, clock.now() + timedelta(hours=1))
    assert put_off(signed_in(auditor), full, "later").status_code == 403  # type: ignore[attr-defined]


def test_question__reaches_the_agent_and_its_answer_brings_the_request_back(
    full: Full, reviewer: Client
) -> None:
    at = full.at(f"promotions/{prm(full.request)}/ask/")
    assert reviewer.post(at, {"text": "How do you know? <script>x</script>"}).status_code == 303
    assert waiting(reviewer, full) == [], "it waits for the proposer"
    agent, api = Client(), f"/api/v1/promotions/{prm(full.request)}"
    told = agent.get(api, headers=full.stage.coder.headers).json()
    assert [row["kind"] for row in told["questions"]] == ["question"]
    assert told["questions"][0]["by"] == "Reviewer"
    stranger = agent.post(
        f"{api}/answer",
        {"text": "me"},
        content_type="application/json",
        headers=full.stage.orchestrator.headers,
    )
    assert stranger.status_code == 404, "only who proposed it answers"
    sent = {"text": "From the console. token sk-ant-api03-" + "A1b2" * 23 + "AA"}
    answer = agent.post(
        f"{api}/answer", sent, content_type="application/json", headers=full.stage.coder.headers
    )
    assert answer.status_code == 200 and [row["kind"] for row in answer.json()["questions"]] == [
        "question",
        "answer",
    ]
    assert "sk-ant" not in answer.content.decode() and "REDACTED" in answer.content.decode()
    again = agent.post(
        f"{api}/answer", {"text": "more"}, content_type="application/json", headers=full.stage.coder.headers
    )
    assert again.status_code == 409 and again.json()["code"] == "nothing_to_do"
    assert waiting(reviewer, full) == [prm(full.request)]
    page = reviewer.get(full.at(f"promotions/{prm(full.request)}/"))
    assert b"<script>x" not in page.content and "From the console." in text_of(page)
    with full.stage.context():
        kept = str(list(AuditEvent.objects.values_list("action", "reason", "before", "after")))
    assert "promotion.asked" in kept and "promotion.answered" in kept and "How do you know" not in kept


def test_question__empty_long_or_too_many__is_refused(full: Full, reviewer: Client) -> None:
    at = full.at(f"promotions/{prm(full.request)}/ask/")
    for text in ("", " ", "x" * 1001):
        assert reviewer.post(at, {"text": text}).status_code == 422
    for number in range(20):
        promotion_ask(full.stage.reviewer.principal, full.request.id, f"question {number}")
    assert reviewer.post(at, {"text": "one more"}).status_code == 409


def test_question__to_a_person__is_answered_on_the_page(full: Full, reviewer: Client) -> None:
    memory = write(full.stage.coder, content="The night train to the north leaves from platform nine.")
    mine = promotion_request(full.stage.owner.principal, memory.id, parse_scope("shared"), "for the others")
    owner = signed_in(full.stage.owner)
    reviewer.post(full.at(f"promotions/{prm(mine)}/ask/"), {"text": "Since when?"})
    page = owner.get(full.at(f"promotions/{prm(mine)}/")).content.decode()
    assert 'value="answer"' in page and 'id="talk-ask"' not in page, "nobody asks themselves"
    assert (
        owner.post(
            full.at(f"promotions/{prm(mine)}/ask/"), {"as": "answer", "text": "Since May."}
        ).status_code
        == 303
    )
    assert "Since May." in text_of(reviewer.get(full.at(f"promotions/{prm(mine)}/")))
    with pytest.raises(NotFound):
        promotion_answer(full.stage.reviewer.principal, mine.id, "not mine")


def several(full: Full) -> dict[str, str]:
    """Requests of different age, risk and reach, by what they are known as."""
    found = {"first": prm(full.request)}
    for name, scope, to, content in (
        ("wide", "project:alpha", "global", "The west gate opens at six in the morning."),
        ("narrow", "session:s-5", "user:7", "The depot keeps forty spare axles."),
    ):
        found[name] = prm(ask(full.stage.coder, write(full.stage.coder, scope=scope, content=content), to))
    with full.stage.context():
        PromotionRequest.objects.filter(to_scope="global").update(risk="high")
        PromotionRequest.objects.exclude(to_scope="global").update(risk="low")
    return found


def test_order__by_age_risk_and_reach(full: Full, owner: Client) -> None:
    known = several(full)
    names = {shown: name for name, shown in known.items()}

    def order(**query: str) -> list[str]:
        return [names[shown] for shown in waiting(owner, full, "all", **query)]

    with full.stage.context():
        assert PromotionRequest.objects.filter(status="pending").count() == 3
    assert order() == ["narrow", "wide", "first"]
    assert order(sort="old") == ["first", "wide", "narrow"]
    assert order(sort="risk")[0] == "wide"
    assert order(sort="reach") == ["wide", "first", "narrow"]
    assert order(sort="nonsense") == order()
    # The next item after a decision follows the order that the reviewer sees.
    sent = {"action": "reject", "reason": "no", "version": "1"}
    path = full.at(f"promotions/{known['first']}/decide/?view=all&sort=old")
    assert known["wide"] in owner.post(path, sent)["Location"]


def test_order__over_several_pages__shows_each_once(full: Full, owner: Client) -> None:
    for number in range(55):
        memory = write(
            full.stage.coder, content=f"Locker {number} of hall {number * 7} holds crate {number * 13}."
        )
        ask(full.stage.coder, memory, "shared" if number % 2 else "global")
    for sort in ("old", "risk", "reach"):
        seen, address = [], full.at(f"promotions/?view=all&sort={sort}")
        while address:
            page = owner.get(address).content.decode()
            seen += re.findall(r'<li id="row-(prm_\w+)"', page)
            more = re.search(r'class="more-rows"><a class="btn sm" href="([^"]+)"', page)
            address = html.unescape(more.group(1)) if more else ""
        with full.stage.context():
            assert len(seen) == len(set(seen)) == PromotionRequest.objects.filter(status="pending").count(), (
                sort
            )


def test_presence__names_who_else_is_looking_for_a_while(full: Full, reviewer: Client) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    other = signed_in(make_person(full.stage.tenant, "reviewer", name="Second Pair"))
    auditor = signed_in(make_person(full.stage.tenant, "auditor", name="Only Reads"))
    assert "looking at this too" not in text_of(reviewer.get(path))
    auditor.get(path)
    assert "Reviewer is looking at this too" in text_of(other.get(path))
    seen = text_of(reviewer.get(path))
    assert "Second Pair is looking at this too" in seen and "Only Reads is" not in seen
    with time_machine.travel(clock.now() + timedelta(minutes=2), tick=False):
        assert "looking at this too" not in text_of(signed_in(full.stage.reviewer).get(path))


def test_similar__decisions_of_the_past__are_shown_with_their_reason(full: Full, reviewer: Client) -> None:
    decided = promotion_decide(
        full.stage.owner.principal, full.request.id, "reject", reason="too specific <i>", version=1
    )
    assert decided.request.status == "rejected"
    memory = write(full.stage.coder, content="The night train to the north leaves from platform nine.")
    fresh = ask(full.stage.coder, memory)
    page = reviewer.get(full.at(f"promotions/{prm(fresh)}/"))
    assert "Similar decisions in the past" in text_of(page) and "too specific <i>" in text_of(page)
    assert b"<i>" not in page.content and f"/agents/{full.request.proposer_id}/" in page.content.decode()

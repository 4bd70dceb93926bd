"""Which language a page, a mail and a call are in: the account's, else the browser's choice, else what it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import translation

from tests.mailbox import mail_server

if TYPE_CHECKING:
    from tests.factories import Stage
    from tests.pages.staging import Full


def lang_of(answer: object) -> str:
    found = re.search(r'<html lang="([^"]+)"', answer.content.decode())  # type: ignore[attr-defined]
    assert found is not None
    return found[1]


def german(client: Client) -> Client:
    client.cookies["language"] = "de"
    return client


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "de"),
        ("fr,de;q=0.4", "de"),
        ("fr-CH", "en"),
        ("", "en"),
        ("de;q=0,en", "en"),
        ("\x7f,,", "en"),
    ],
)
def test_language__asked_for_by_the_browser__is_that_of_the_page(
    database: None, asked: str, given: str
) -> None:
    answer = Client().get("/", headers={"Accept-Language": asked})
    assert lang_of(answer) == given == answer["Content-Language"]
    assert "Accept-Language" in answer["Vary"]
    said = answer.content.decode()
    assert ("Nichts ist endgültig" in said) == (given == "de") and ("Nothing is final" in said) == (
        given == "en"
    )


def test_language__chosen_on_a_page__is_kept_in_the_browser_and_leads_back(database: None) -> None:
    nobody = Client(headers={"Accept-Language": "en"})
    answer = nobody.post("/language/", {"language": "de"}, headers={"Referer": "http://testserver/help/?x=1"})
    assert (answer.status_code, answer["Location"]) == (303, "/help/?x=1")
    assert lang_of(nobody.get("/help/")) == "de"
    nobody.post("/language/", {"language": "tlh"})
    assert lang_of(nobody.get("/help/")) == "de"


def test_language__chosen_while_signed_in__goes_with_the_account(stage: Stage) -> None:
    """From one browser to the next, before what that one asks for; and back by the same buttons."""
    here, there = Client(), Client(headers={"Accept-Language": "en"})
    for browser in (here, there):
        browser.force_login(stage.owner.user)
    here.post("/language/", {"language": "de"})
    assert lang_of(there.get("/me/")) == "de"
    page = there.get("/me/").content.decode()
    assert re.search(r'value="de" lang="de" aria-pressed="true"', page)
    there.post("/language/", {"language": "en"})
    assert lang_of(here.get("/me/")) == "en"


def test_account__with_a_language__is_saved_and_can_leave_it_to_the_browser(stage: Stage) -> None:
    browser = Client(headers={"Accept-Language": "de"})
    browser.force_login(stage.owner.user)
    fields = {"name": "Owner", "time_zone": "", "shortcuts": "on"}
    assert browser.post("/me/", {**fields, "language": "en"}).status_code == 303
    assert lang_of(browser.get("/me/")) == "en"
    assert browser.post("/me/", {**fields, "language": "xx"}).status_code == 422
    assert browser.post("/me/", {**fields, "language": ""}).status_code == 303
    assert lang_of(browser.get("/me/")) == "de"


def test_error_pages__speak_the_readers_language(database: None) -> None:
    answer = german(Client()).get("/nowhere/")
    assert answer.status_code == 404 and lang_of(answer) == "de"
    assert "Hier ist nichts" in answer.content.decode()


def test_calls__after_a_german_page_in_the_same_thread__are_answered_in_english(full: Full) -> None:
    from tests.pages.staging import signed_in

    german(signed_in(full.stage.owner)).get(full.at(""))
    key = full.stage.coder.key_text
    call = Client(headers={"Authorization": f"Bearer {key}", "Accept-Language": "de"})
    answer = call.post("/api/v1/memories", {"content": ["no text"]}, content_type="application/json")
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["code"] and not re.search(r"[äöüß]|ungültig|Zeichen", str(problem))
    with translation.override("de"):
        assert (
            call.post("/api/v1/memories", {"content": ["no text"]}, content_type="application/json").json()[
                "detail"
            ]
            == problem["detail"]
        )


def test_numbers_dates_and_plurals__are_those_of_the_language(full: Full) -> None:
    import datetime as dt

    from django.template import Context, Template

    with translation.override("de"):
        shown = Template(
            "{% load memgov_ui %}{{ n|sizes }}|{{ s|unit_score }}|{% when t %}|{{ t|weekday }}|{{ s|raw }}"
        ).render(Context({"n": 10128, "s": 0.86, "t": dt.datetime(2026, 3, 4, 9, 5, tzinfo=dt.UTC)}))
        assert re.sub(r"<[^>]+>", "", shown) == "10.128|0,86|4. März 2026, 09:05 UTC|Mi, 4. März 2026|0.86"
        days = "{% blocktrans count n=n %}{{ n }} day{% plural %}{{ n }} days{% endblocktrans %}"
        assert [Template(days).render(Context({"n": n})) for n in (0, 1, 2)] == ["0 Tage", "1 Tag", "2 Tage"]


def test_refusals_of_services__are_said_in_german_with_their_values(database: None) -> None:
    from memory.services.said import said

    told = {
        "give a name of 1 to 200 characters": "geben Sie einen Namen mit 1 bis 200 Zeichen an",
        "the memory is at version 3, not 2; nothing was changed": (
            "die Erinnerung ist bei Version 3, nicht 2; nichts wurde geändert"
        ),
        "a memory that is archived cannot be edited; restore it first": (
            "eine Erinnerung im Status „archiviert“ lässt sich nicht bearbeiten; stellen Sie sie zuerst wieder her"
        ),
        "content: has no letter or digit": "Inhalt: enthält weder Buchstabe noch Ziffer",
        "write a number, 0 to 1": "geben Sie eine Zahl von 0 bis 1 ein",
        "Regret of the whole tenant is 20 %, at or above 10 % (breach).": (
            "Bereute Verdrängungen: gesamter Mandant, jetzt 20 %, Schwelle 10 % erreicht oder überschritten (verletzt)."
        ),
        "nobody ever says this": "nobody ever says this",
    }
    with translation.override("de"):
        assert {text: said(text) for text in told} == told
    assert [said(text) for text in told] == list(told)


@pytest.mark.parametrize(
    "text",
    ["a " * 1900 + ": at most x characters", "{0}" * 900, ": " * 1500, "; nothing was saved" * 150,
     "a of b is c, at or " * 200],
)  # fmt: skip
def test_refusals__with_hostile_values__are_looked_up_at_once(text: str) -> None:
    """Values come from agents and people; they may look like our sentences, and must not take time."""
    import time

    from memory.services.said import said

    with translation.override("de"):
        began = time.perf_counter()
        said(text)
        assert time.perf_counter() - began < 1.0


def test_invitation__to_somebody_with_an_account__is_in_their_language(stage: Stage) -> None:
    from memory.services.accounts import language_choose
    from memory.services.invitations import invitation_create
    from tests.factories import make_person, make_tenant

    known = make_person(make_tenant().tenant, "auditor").user
    language_choose(known, "de")
    with mail_server() as box:
        invitation_create(stage.owner.principal, known.email, "auditor")
        invitation_create(stage.owner.principal, "stranger@example.test", "auditor")
        with translation.override("de"):
            invitation_create(stage.owner.principal, "guest@example.test", "auditor")
    subjects = [str(message["Subject"]).split(" ")[0] for message in box.messages]
    assert subjects == ["Einladung", "Invitation", "Einladung"]
    assert "in der Rolle Auditor" in str(box.messages[0].get_content())


def test_a_number_typed_in_german_pages__is_read_as_it_is_shown(full: Full) -> None:
    """Fields of the policy keep the notation of the document; saving a page unchanged changes nothing."""
    from tests.pages.staging import signed_in
    from tests.pages.test_every_page import names

    browser = german(signed_in(full.stage.owner))
    path = full.at("policies/drafts/{pdr}/fields/".format(**names(full)))
    page = browser.get(path).content.decode()
    shown = re.search(
        r'name="decay\.floor"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="decay\.floor"', page
    )
    assert shown is not None and "0.15" in shown[0]
    assert "Mindestvertrauen" in page

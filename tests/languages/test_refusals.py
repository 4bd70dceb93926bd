"""Refusals in German: provoked through pages, whatever collects them; and what people wrote stays as they wrote it."""

from __future__ import annotations

import ast
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from django.utils import translation

if TYPE_CHECKING:
    from django.test import Client

    from tests.pages.staging import Full


def german(full: Full) -> Client:
    from tests.pages.staging import signed_in

    browser = signed_in(full.stage.owner)
    browser.cookies["language"] = "de"
    return browser


def refused(browser: Client, address: str, fields: dict[str, object], status: int) -> str:
    """The text of the page that refuses it."""
    answer = browser.post(address, fields)
    assert answer.status_code == status, (address, answer.status_code)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", answer.content.decode())).split())


@pytest.mark.parametrize(
    ("path", "fields", "status", "told"),
    [
        ("memories/{mem}/pin/", {"reason": "x" * 600, "version": "1"}, 422,
         "Grund: 600 Zeichen sind zu viel; das Audit bewahrt 500 auf, kürzen Sie den Text"),
        ("members/", {"email": "{guest}", "role": "auditor"}, 422, "@example.test ist schon eingeladen; senden Sie"),
        ("policies/", {"document": "- decay", "reason": "tidy"}, 422, "nthält keine Richtlinie: erwartet werden"),
        ("policies/1/roll-back/", {"reason": " ", "active": "1"}, 422, "eben Sie an, warum sich die Richtlinie änd"),
        ("policies/1/roll-back/", {"reason": "back", "active": "7"}, 409, ", nicht 7; nichts wurde geändert"),
        ("policies/drafts/{pdr}/text/", {"document": "", "version": "88"}, 409, "er Entwurf ist inzwischen bei"),
    ],
)  # fmt: skip
def test_page__refused_with_a_text_made_before_it_is_raised__says_it_in_german(
    full: Full, path: str, fields: dict[str, str], status: int, told: str
) -> None:
    from memory.services.policies import policy_activate
    from tests.pages.test_every_page import names

    policy_activate(full.stage.owner.principal, {"decay": {"floor": 0.3}}, "forget sooner")
    known = {**names(full), "guest": full.invitation.email}
    sent = {name: value.format(**known) for name, value in fields.items()}
    page = refused(german(full), full.at(path.format(**known)), sent, status)
    assert told.format(**known) in page


def test_deletion__that_would_take_nothing__says_so_in_german(full: Full) -> None:
    from uuid import uuid4

    from memory.domain.ids import show_id
    from memory.services.retention import memory_pin
    from tests.pages.staging import write

    browser, where = german(full), full.at("memories/delete/")
    pinned = write(full.stage.coder, content="The pump house key hangs by the door.", scope="user:7")
    memory_pin(full.stage.reviewer.principal, pinned.id, "needed")
    for chosen, told in (
        (
            {"id": show_id("mem", uuid4())},
            "iese Erinnerungen gibt es nicht, oder dieser Schlüssel darf sie nicht sehen",
        ),
        ({"scope": "user:7"}, "ichts Passendes lässt sich löschen (angeheftet: 1); nichts wurde gelöscht"),
    ):
        page = browser.get(where, chosen).content.decode()
        seal = re.search(r'name="seal" value="([^"]*)"', page)
        sent = {**chosen, "reason": "tidy", "seal": seal[1] if seal else "none"}
        assert told in refused(browser, where, sent, 409)


def test_restore__of_what_lost_its_place__says_so_in_german(full: Full) -> None:
    from memory.services.retention import memory_delete
    from tests.pages.staging import FACT, mem, write

    memory_delete(full.stage.owner.principal, full.memory.id, "wrong")
    write(full.stage.coder, content=FACT.content)
    where, fields = full.at(f"memories/{mem(full.memory)}/restore/"), {"version": "2", "on_clash": "refuse"}
    assert "n ihrer Stelle steht eine andere Erinnerung" in refused(german(full), where, fields, 409)


def test_let_go__by_a_german_reader__is_kept_as_a_code_and_read_in_each_language(full: Full) -> None:
    from memory.models import AuditEvent, Memory
    from tests.pages.staging import mem, signed_in

    with full.stage.context():
        Memory.objects.filter(id=full.memory.id).update(status="archived")
    browser = german(full)
    where = full.at(f"evictions/{mem(full.memory)}/let-go/")
    assert browser.post(where, {"version": 1}).status_code == 303
    with full.stage.context():
        assert AuditEvent.objects.get(action="memory.deleted", target_id=mem(full.memory)).reason == "let_go"
        assert Memory.objects.get(id=full.memory.id).status_reason == "let_go"
    audit = full.at("audit/?action=memory.deleted")
    assert "losgelassen" in browser.get(audit).content.decode()
    assert "losgelassen" in browser.get(full.at("evictions/")).content.decode()
    english = signed_in(full.stage.reviewer).get(audit).content.decode()
    assert "let go" in english and "losgelassen" not in english


@pytest.mark.parametrize("name", ["worker", "above", "live", "reason", "a number"])
def test_said__a_value_of_somebody__is_left_alone_though_it_is_a_word_of_ours(
    database: None, name: str
) -> None:
    from memory.services.said import said

    texts = (
        f"Agent {name} wrote 7 refused or held texts in 60 s.",
        f"Agent {name} says that this memory did harm.",
        f"an agent named {name} exists already",
        f"a tenant {name} exists already",
        f"another memory lives in its place: {name}. Settle the two first; nothing was changed",
    )
    with translation.override("de"):
        assert said(name) != name, "a word that German has another for"
        for text in texts:
            assert said(text) != text and re.search(rf"\b{name}\b", said(text)), said(text)


def test_said__words_of_ours_at_marked_places__are_said_too(database: None) -> None:
    from memory.services.said import said

    with translation.override("de"):
        assert "worker" not in said("The worker gives no sign of life: nothing is swept, measured or sent.")
        assert "aktiv" in said("it is live already; nothing was changed")
        assert said("give a name of 1 to 200 characters; nothing was saved").startswith(
            "geben Sie einen Namen"
        )


@pytest.mark.parametrize("most", [1, 2, 6])
def test_said__a_deletion_refused_for_several_reasons__is_german_to_its_end(
    database: None, most: int
) -> None:
    from memory.selectors.deletions import REASONS
    from memory.services.said import said

    why = ", ".join(f"{reason.replace('_', ' ')}: {count}" for count, reason in enumerate(REASONS[:most], 3))
    with translation.override("de"):
        told = said(f"nothing matches that could go ({why}); nothing was deleted")
    assert told.startswith("nichts Passendes lässt sich löschen (von jemand anderem geschrieben: 3")
    assert told.endswith("); nichts wurde gelöscht") and told.count(",") == most - 1
    assert not any(f"{reason.replace('_', ' ')}:" in told for reason in REASONS)


def test_marked__a_sentence_that_is_gone__is_refused() -> None:
    from scripts.languages.places import OURS, marked

    plain = [re.sub(r"(\d)[!*]", r"\1", one) for one in OURS]
    assert sorted(marked([*plain, "at most {0} networks"])) == sorted([*OURS, "at most {0} networks"])
    with pytest.raises(ValueError, match="nobody says any more"):
        marked(plain[1:])


def test_raised__texts_that_reach_an_error_by_a_name_or_a_choice__are_found() -> None:
    from scripts.languages.raised import raised

    module = '''
SHARED = "a text of the module"

def made(many, why):
    """A docstring with words."""
    log("a line of the log")
    unused = "a text that is never raised"
    tail = " and a tail of it" if why else ""
    error = Conflict(f"nothing goes{tail}; {many} stay", code="nothing_to_do")
    return error if many else Denied("not for this one" if why else "not for that one")

def other(number):
    said = f"at most {number} of them"
    if number > 9:
        raise _moved(said)
    raise Invalid(SHARED, field="reason")
'''
    assert set(raised(ast.parse(module))) == {
        "nothing goes{0}; {1} stay", " and a tail of it", "not for this one", "not for that one",
        "at most {0} of them", "a text of the module",
    }  # fmt: skip

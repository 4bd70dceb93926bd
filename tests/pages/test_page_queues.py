"""Contradictions and quarantine in the browser, and evictions: decided, undone, too late."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Contradiction, Memory
from memory.services.retention import memory_delete
from tests.pages.staging import Full, mem, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


def settle(browser: Client, full: Full, action: str, reason: str = "asked them", **more: object):  # type: ignore[no-untyped-def]
    headers = more.pop("headers", {})
    sent = {"action": action, "reason": reason, "version": 1, **more}
    return browser.post(at(full, "decide"), sent, headers=headers)


def at(full: Full, what: str = "") -> str:
    shown = show_id("con", full.contradiction.id)
    return full.at(f"contradictions/{shown}/" + (f"{what}/" if what else ""))


def pair(full: Full) -> tuple[Memory, Memory, Contradiction]:
    with full.stage.context():
        found = Contradiction.objects.get(id=full.contradiction.id)
        a, b = Memory.objects.get(id=found.memory_a), Memory.objects.get(id=found.memory_b)
    return a, b, found


def test_contradiction__shows_both_values_with_their_sources(full: Full, reviewer: Client) -> None:
    text = reviewer.get(at(full)).content.decode()
    assert "enterprise" in text and "starter" in text and full.stage.coder.agent.name in text


@pytest.mark.parametrize(
    ("action", "a_is", "b_is"),
    [
        ("keep_a", "live", "superseded"),
        ("keep_b", "superseded", "live"),
        ("keep_both", "live", "live"),
    ],
)
def test_settle__a_conflict__leaves_what_was_chosen_and_undo_brings_both_back(
    full: Full, reviewer: Client, action: str, a_is: str, b_is: str
) -> None:
    before = [(row.status, row.single_valued) for row in pair(full)[:2]]
    answer = settle(reviewer, full, action)
    assert answer.status_code == 303
    a, b, found = pair(full)
    assert (a.status, b.status) == (a_is, b_is)
    assert (found.status, found.resolution) == ("settled", action)
    assert f"{at(full)}undo/" in reviewer.get(answer["Location"]).content.decode()
    undone = reviewer.post(at(full, "undo"), headers=HX)
    assert undone.status_code == 200 and b'id="list"' in undone.content
    assert [(row.status, row.single_valued) for row in pair(full)[:2]] == before
    assert pair(full)[2].status == "open"


def test_settle__with_htmx__answers_the_rest_of_the_page(full: Full, reviewer: Client) -> None:
    text = settle(reviewer, full, "keep_a", headers=HX).content.decode()
    assert "hx-swap-oob" in text and "Nothing left to settle" in text and 'id="count-contradictions"' in text


def test_settle__without_a_reason__is_asked_for(full: Full, reviewer: Client) -> None:
    for headers in ({}, HX):
        assert settle(reviewer, full, "keep_a", reason="", headers=headers).status_code == 422
    assert pair(full)[2].status == "open"


def test_settle__twice__is_409_and_names_who_was_first(full: Full, reviewer: Client, owner: Client) -> None:
    settle(owner, full, "keep_b")
    for headers in ({}, HX):
        answer = settle(reviewer, full, "keep_a", headers=headers)
        assert answer.status_code == 409
        assert "Owner" in answer.content.decode() and "kept B" in answer.content.decode()
    assert pair(full)[2].resolution == "keep_b"


def test_settle__in_favour_of_what_was_replaced_meanwhile__follows_the_successor(
    full: Full, reviewer: Client
) -> None:
    newer = write(
        full.stage.coder, subject="user:42", predicate="plan", scope="user:42", content=None, value="unlimited",
        confidence=0.99, origin="user_explicit",
    )  # fmt: skip
    assert settle(reviewer, full, "keep_b").status_code == 409, "another value lives there by now"
    assert settle(reviewer, full, "keep_a").status_code == 303
    _a, b, _found = pair(full)
    assert (b.status, b.superseded_by) == ("superseded", newer.id)


def test_undo__by_another_person_or_too_late__is_refused(full: Full, reviewer: Client, owner: Client) -> None:
    settle(reviewer, full, "keep_a")
    assert owner.post(at(full, "undo")).status_code == 404
    with time_machine.travel(clock.now() + timedelta(minutes=11), tick=False):
        assert reviewer.post(at(full, "undo")).status_code == 409
    assert pair(full)[2].status == "settled"


def hold(full: Full, what: str = "decide") -> str:
    return full.at(f"quarantine/{mem(full.held)}/{what}/")


def held_status(full: Full) -> str:
    with full.stage.context():
        return Memory.objects.get(id=full.held.id).status


def test_quarantine__shows_the_text_inert_with_the_matched_spans(full: Full, reviewer: Client) -> None:
    text = reviewer.get(full.at(f"quarantine/{mem(full.held)}/")).content.decode()
    assert "<mark" in text and "Ignore" in text
    assert "Instruction" in text


def test_release__needs_a_reason_and_can_be_undone(full: Full, reviewer: Client) -> None:
    assert reviewer.post(hold(full), {"action": "release", "version": 1}, headers=HX).status_code == 422
    answer = reviewer.post(hold(full), {"action": "release", "reason": "a quote", "version": 1})
    assert answer.status_code == 303 and held_status(full) == "live"
    assert hold(full, "undo") in reviewer.get(full.base).content.decode()
    assert reviewer.post(hold(full, "undo"), headers=HX).status_code == 200
    assert held_status(full) == "quarantined"
    assert reviewer.post(hold(full, "undo"), headers=HX).status_code == 409


def test_delete__from_quarantine__asks_first(full: Full, reviewer: Client) -> None:
    sent = {"action": "delete", "reason": "planted", "version": 1}
    for headers in ({}, HX):
        asked = reviewer.post(hold(full), sent, headers=headers)
        assert asked.status_code == 200 and b"Delete this entry?" in asked.content
    assert held_status(full) == "quarantined"
    assert reviewer.post(hold(full), {**sent, "confirmed": "yes"}).status_code == 303
    assert held_status(full) == "deleted"


def test_restore__of_what_was_deleted_out_of_quarantine__leads_back_into_it(
    full: Full, reviewer: Client
) -> None:
    reviewer.post(hold(full), {"action": "delete", "reason": "planted", "version": 1, "confirmed": "yes"})
    assert reviewer.post(full.at(f"evictions/{mem(full.held)}/restore/"), {"version": 2}).status_code == 303
    assert held_status(full) == "quarantined"


def test_release__of_what_was_decided__is_409(full: Full, reviewer: Client, owner: Client) -> None:
    owner.post(hold(full), {"action": "release", "reason": "fine", "version": 1})
    for headers in ({}, HX):
        answer = reviewer.post(
            hold(full), {"action": "release", "reason": "x", "version": 1}, headers=headers
        )
        assert answer.status_code == 409


def test_release__where_the_same_lives__is_409_and_says_what_stands_there(
    full: Full, reviewer: Client
) -> None:
    write(full.stage.orchestrator, content=full.held.content, origin="user_explicit")
    answer = reviewer.post(hold(full), {"action": "release", "reason": "fine", "version": 1})
    assert answer.status_code == 409 and b"lives in its place" in answer.content
    assert held_status(full) == "quarantined"


def test_another_memory__is_not_shown_as_quarantined(full: Full, reviewer: Client) -> None:
    assert reviewer.get(full.at(f"quarantine/{mem(full.memory)}/")).status_code == 404


def test_evictions__list_what_went_and_restore_it(full: Full, reviewer: Client) -> None:
    memory_delete(full.stage.owner.principal, full.memory.id, "no longer needed")
    page = reviewer.get(full.at("evictions/"), {"rule": "deleted"}).content.decode()
    assert full.memory.content in page and "Owner" in page and "no longer needed" in page
    answer = reviewer.post(full.at(f"evictions/{mem(full.memory)}/restore/"), {"version": 2})
    assert answer.status_code == 303
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).status == "live"
    late = reviewer.post(full.at(f"evictions/{mem(full.memory)}/restore/"), {"version": 2})
    assert late.status_code == 303
    assert "version" in reviewer.get(late["Location"]).content.decode(), "a message says why not"

"""Erasing a subject in the browser: the look, the typed confirmation, the job, the receipt, and who may not."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.pages.removing import form_of, statuses

if TYPE_CHECKING:
    from django.test import Client

    from memory.models import Memory
    from tests.browser import OpenAs
    from tests.pages.staging import Full

SUBJECT = "user:4711"
HOSTILE = "<img src=x onerror=alert(1)> is what she calls her bicycle."


@pytest.fixture
def theirs(full: Full) -> list[Memory]:
    """Two memories about the subject, and one of somebody else that mentions the bicycle."""
    from tests.pages.staging import write

    keyed = {"subject": SUBJECT, "content": None, "scope": "project:alpha"}
    return [
        write(full.stage.coder, **keyed, predicate="note", value=HOSTILE),
        write(full.stage.coder, **keyed, predicate="plan", value="enterprise"),
        write(full.stage.coder, content="The bicycle of the subject stands in shed 4."),
    ]


def run_last(full: Full) -> None:
    """What the worker does."""
    from memory.models import Job
    from memory.services.erasure_run import erasure_run

    with full.stage.context():
        job = Job.objects.filter(kind="subject.erase").latest("created_at")
    assert erasure_run(full.stage.tenant.id, job.id) == "done"


def test_erasure__looked_at_typed_and_done__leaves_a_receipt(
    full: Full, owner: Client, theirs: list[Memory]
) -> None:
    from tests.pages.staging import mem

    page = owner.post(full.at("erasures/"), {"subject": SUBJECT, "words": "bicycle"}).content.decode()
    assert "Erase 2 memories for good?" in page and "1 memory of others holds these words" in page
    assert "<img src=x" not in page and "&lt;img src=x" in page
    sent = {
        **form_of(page),
        "step": "erase",
        "typed": SUBJECT,
        "reason": "request 17",
        "along": mem(theirs[2]),
    }
    answer = owner.post(full.at("erasures/"), sent)
    assert answer.status_code == 303 and SUBJECT not in answer["Location"]
    part = owner.get(answer["Location"], headers={"HX-Request": "true", "HX-Target": "step"}).content.decode()
    assert "Under way: 0 of 3." in part and "every 2s" in part and part.lstrip().startswith("<section")
    run_last(full)
    assert statuses(full, theirs) == ["erased"] * 3
    done = owner.get(answer["Location"]).content.decode()
    assert "3 memories were erased." in done and SUBJECT not in done and "every 2s" not in done
    receipt = json.loads(owner.get(f"{answer['Location']}receipt.json").content)
    hashed = receipt.pop("sha256")
    canonical = json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(canonical.encode()).hexdigest() == hashed and receipt["entries"] == 3
    listed = owner.get(full.at("erasures/")).content.decode()
    assert "request 17" in listed and "receipt.json" in listed and SUBJECT not in listed


def test_erasure__wrong_word_no_reason_or_another_set__is_refused(
    full: Full, owner: Client, theirs: list[Memory]
) -> None:
    from tests.pages.staging import write

    page = owner.post(full.at("erasures/"), {"subject": SUBJECT}).content.decode()
    good = {**form_of(page), "step": "erase", "typed": SUBJECT, "reason": "request 17"}
    for wrong, said in (
        ({"typed": "user:4712"}, "That is not the subject"),
        ({"reason": " "}, "Say why it is erased"),
        ({"reason": f"{SUBJECT} asked"}, "must not name the subject"),
    ):
        answer = owner.post(full.at("erasures/"), {**good, **wrong})
        assert answer.status_code == 422 and said in answer.content.decode(), wrong
    unseen = owner.post(full.at("erasures/"), {**good, "seal": ""})
    assert unseen.status_code == 200 and "Erase 2 memories for good?" in unseen.content.decode()
    odd = owner.post(full.at("erasures/"), {"subject": "\ud800".encode("utf-8", "replace"), "words": "x"})
    assert odd.status_code == 422
    write(full.stage.coder, subject=SUBJECT, content=None, predicate="colour", value="dark green")
    changed = owner.post(full.at("erasures/"), good)
    assert changed.status_code == 409 and "Something else would go" in changed.content.decode()
    assert statuses(full, theirs) == ["live"] * 3


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_erasure__for_others__is_not_there_and_recorded(
    full: Full, owner: Client, theirs: list[Memory], role: str
) -> None:
    from memory.models import AuditEvent
    from tests.factories import make_person
    from tests.pages.staging import mem, signed_in

    person = make_person(full.stage.tenant, role)
    browser = signed_in(person)
    page = owner.post(full.at("erasures/"), {"subject": SUBJECT}).content.decode()
    good = {**form_of(page), "step": "erase", "typed": SUBJECT, "reason": "request 17"}
    assert browser.get(full.at("erasures/")).status_code == 403
    assert browser.post(full.at("erasures/"), good).status_code == 403
    assert statuses(full, theirs) == ["live"] * 3
    with full.stage.context():
        assert AuditEvent.objects.filter(action="access.denied", actor_id=person.principal.id).count() == 1
    own = full.at(f"memories/{mem(theirs[0])}/")
    assert "Erase all about this subject" in owner.get(own).content.decode()
    assert "Erase all about this subject" not in browser.get(own).content.decode()
    answer = owner.post(full.at("erasures/"), good)
    assert browser.get(answer["Location"]).status_code == 403
    assert browser.get(f"{answer['Location']}receipt.json").status_code == 403
    assert owner.get(f"{answer['Location']}receipt.json").status_code == 404, "it has not ended"


def test_erasure__of_another_tenant__is_not_there(full: Full, owner: Client, theirs: list[Memory]) -> None:
    from tests.factories import make_tenant
    from tests.pages.staging import signed_in

    page = owner.post(full.at("erasures/"), {"subject": SUBJECT}).content.decode()
    good = {**form_of(page), "step": "erase", "typed": SUBJECT, "reason": "request 17"}
    step = owner.post(full.at("erasures/"), good)["Location"]
    run_last(full)
    stranger = make_tenant()
    browser, there = signed_in(stranger.owner), step.replace(full.stage.tenant.slug, stranger.tenant.slug)
    for address in (step, there, f"{step}receipt.json", f"{there}receipt.json"):
        assert browser.get(address).status_code == 404, address
    assert owner.get(step).status_code == 200 and owner.get(f"{step}receipt.json").status_code == 200


@pytest.mark.parametrize("width", [1440, 390])
def test_erasure__every_state__has_no_fault_of_axe_in_light_and_dark(
    full: Full, open_as: OpenAs, theirs: list[Memory], width: int
) -> None:
    from tests.pages.axe import faults

    tab = open_as(full.stage.owner, width=width, height=900 if width > 500 else 844)
    page = tab.go(full.at("erasures/"))
    found = faults(page, "erasures")
    page.get_by_label("Subject", exact=True).fill(SUBJECT)
    page.get_by_label("Words that others").fill("bicycle")
    page.get_by_role("button", name="What would go").click()
    expect(page.get_by_role("heading", name="Erase 2 memories for good?")).to_be_visible()
    found += faults(page, "look")
    page.get_by_label("Reason").fill("request 17")
    page.get_by_label("Type the subject again").fill(SUBJECT)
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("Under way")).to_be_visible()
    found += faults(page, "under way")
    run_last(full)
    expect(page.get_by_text("2 memories were erased.")).to_be_visible()
    found += faults(page, "done")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found == []


def test_erasure__without_javascript__works_by_forms(
    full: Full, open_as: OpenAs, theirs: list[Memory]
) -> None:
    page = open_as(full.stage.owner, javascript=False).go(full.at("erasures/"))
    page.locator("#subject").fill(SUBJECT)
    page.get_by_role("button", name="What would go").click()
    page.locator("#reason").fill("request 17")
    page.locator("#typed").fill(SUBJECT)
    page.get_by_role("button", name="Erase for good").click()
    run_last(full)
    page.get_by_role("link", name="Look again").click()
    expect(page.get_by_text("2 memories were erased.")).to_be_visible()
    assert statuses(full, theirs) == ["erased", "erased", "live"]

"""Every decision of a reviewer in Chromium with keys alone: each is made and taken back without the mouse, the focus
can be seen at every step, and it lands on what comes next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from memory.models import Contradiction, Job, Memory, PromotionRequest
from memory.services.deletion_steps import deletion_run
from memory.services.retention import memory_delete
from tests.browser import OpenAs
from tests.factories import PASSWORD, make_person
from tests.pages.keyboard import Keys
from tests.pages.staging import Full, ask, mem, prm, write

WHY = "the contract says so"
WORDINGS = ("Deploy window is Tuesday 14:00 UTC", "We deploy on Tuesdays at 2pm UTC")


@pytest.fixture
def keys(full: Full, open_as: OpenAs) -> Iterator[Keys]:
    """The keyboard of the reviewer; in the end the focus has been in sight all the time."""
    walked = Keys(open_as(full.stage.reviewer))
    yield walked
    assert walked.unseen == []


def heading(keys: Keys) -> Locator:
    """The heading of the item, where the focus lands after a decision."""
    return keys.page.locator("#detail article h2.value")


def said(keys: Keys, text: str) -> None:
    """The newest toast says so."""
    expect(keys.page.locator("#toasts [data-toast]").last).to_contain_text(text)


def state_of(full: Full, memory: Memory) -> Memory:
    with full.stage.context():
        found: Memory = Memory.objects.get(id=memory.id)
        return found


def request_of(full: Full, request: PromotionRequest) -> str:
    with full.stage.context():
        return str(PromotionRequest.objects.get(id=request.id).status)


def test_promotions__approved_rejected_and_quarantined__by_tab_and_enter_and_taken_back(
    full: Full, keys: Keys
) -> None:
    risky = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon.")
    )
    with full.stage.context():
        PromotionRequest.objects.filter(id=risky.id).update(risk="high")
    for request, action, done in (
        (full.request, "approve", "approved"),
        (full.request, "reject", "rejected"),
        (risky, "quarantine", "quarantined"),
    ):
        keys.go(full.at(f"promotions/{prm(request)}/"))
        keys.skip()
        keys.tab_to(keys.page.locator("#reason"))
        keys.type(WHY)
        keys.use(keys.page.locator(f"form.decide button[value={action}]"))
        expect(keys.page.locator("#toasts button[data-undo]")).to_be_visible()
        keys.landed(heading(keys))
        assert request_of(full, request) == done
        keys.use(keys.page.locator("#toasts button[data-undo]"), "Space")
        said(keys, "Taken back")
        keys.landed(heading(keys))
        assert request_of(full, request) == "pending"


def test_promotions__asked_about_and_put_off__by_keys_alone(full: Full, keys: Keys) -> None:
    keys.go(full.at(f"promotions/{prm(full.request)}/"))
    keys.skip()
    more = keys.page.locator("#detail summary", has_text="Ask the proposer")
    keys.use(more)
    keys.tab_to(keys.page.locator("#talk-ask"))
    keys.type("How do you know?")
    keys.press("Enter")
    said(keys, "Asked")
    keys.landed(heading(keys))
    expect(keys.page.locator("#detail")).to_contain_text("How do you know?")
    keys.use(more, "Space")
    keys.use(keys.page.locator("button[name=until][value=tomorrow]"), "Space")
    said(keys, "Put off")
    expect(keys.page.locator("#detail h2")).to_be_focused()
    keys.go(full.at(f"promotions/{prm(full.request)}/"))
    keys.skip()
    keys.use(keys.page.locator("button[name=until][value=now]"))
    said(keys, "It is back")
    keys.landed(heading(keys))
    assert request_of(full, full.request) == "pending"


def test_contradictions__kept_one_other_or_both__by_keys_and_taken_back(full: Full, keys: Keys) -> None:
    def resolution() -> str:
        with full.stage.context():
            return str(Contradiction.objects.get(id=full.contradiction.id).resolution)

    keys.go(full.at(f"contradictions/con_{full.contradiction.id.hex}/"))
    for key, action in (("1", "keep_a"), ("2", "keep_b"), ("", "keep_both")):
        if key:
            keys.press(key)
        else:
            keys.tab_to(keys.page.locator("#reason"))
        keys.landed(keys.page.locator("#reason"))
        if (
            key == "1"
        ):  # too early: the form says what is missing, and the keyboard is where it can be put right
            keys.press("Control+Enter")
            expect(keys.page.locator("#reason")).to_have_attribute("aria-invalid", "true")
            keys.landed(keys.page.locator("#reason"))
        keys.type(WHY)
        if key:
            keys.press("Control+Enter")
        else:
            keys.use(keys.page.locator("form.decide button[value=keep_both]"), "Space")
        expect(keys.page.locator("#detail h2")).to_have_text("Nothing left to settle")
        expect(keys.page.locator("#detail h2")).to_be_focused()
        assert resolution() == action
        keys.press("u")
        said(keys, "Taken back")
        keys.landed(heading(keys))
        assert resolution() == ""


def test_contradictions__of_two_wordings__are_merged_by_keys(full: Full, keys: Keys) -> None:
    for content in WORDINGS:
        write(full.stage.coder, content=content)
    with full.stage.context():
        pair = Contradiction.objects.get(kind="merge")
    keys.go(full.at(f"contradictions/con_{pair.id.hex}/"))
    keys.press("2")
    keys.landed(keys.page.locator("#reason"))
    keys.type(WHY)
    keys.press("Control+Enter")
    expect(keys.page.locator("#toasts button[data-undo]")).to_be_visible()
    keys.landed(heading(keys))
    with full.stage.context():
        assert Contradiction.objects.get(id=pair.id).resolution == "keep_b"
    keys.press("u")
    said(keys, "Taken back")
    keys.landed(heading(keys))
    with full.stage.context():
        assert Contradiction.objects.get(id=pair.id).status == "open"


def test_quarantine__released_and_deleted__by_keys_and_taken_back(full: Full, keys: Keys) -> None:
    keys.go(full.at(f"quarantine/{mem(full.held)}/"))
    for key, status in (("l", "live"), ("d", "deleted")):
        keys.press(key)
        keys.landed(keys.page.locator("#reason"))
        keys.type(WHY)
        keys.press("Control+Enter")
        if key == "d":  # asked once more, with the reason still there
            expect(keys.page.locator("form.decide")).to_contain_text("Delete this entry?")
            keys.landed(heading(keys))
            expect(keys.page.locator("#reason")).to_have_value(WHY)
            keys.use(keys.page.locator("form.decide button[value=delete]"))
        expect(keys.page.locator("#toasts button[data-undo]")).to_be_visible()
        expect(keys.page.locator("#detail h2")).to_be_focused()
        assert state_of(full, full.held).status == status
        keys.press("u")
        said(keys, "Taken back")
        keys.landed(heading(keys))
        assert state_of(full, full.held).status == "quarantined"


def test_evictions__restored_and_let_go__by_keys_alone(full: Full, keys: Keys) -> None:
    memory_delete(full.stage.owner.principal, full.memory.id, "wrong")
    archived = write(full.stage.coder, content="The west quay crane lifts forty tonnes.")
    with full.stage.context():
        Memory.objects.filter(id=archived.id).update(status="archived")
    keys.go(full.at("evictions/"))
    for key, row in (("j", 0), ("j", 1), ("k", 0)):
        keys.press(key)
        keys.landed(keys.page.locator("a[data-item]").nth(row))
    keys.use(keys.page.get_by_role("button", name="Restore The staging cluster"))
    said(keys, "Restored")
    assert state_of(full, full.memory).status == "live"
    keys.skip()
    keys.use(keys.page.get_by_role("button", name="Let go The west quay crane"), "Space")
    expect(keys.page.get_by_role("button", name="Let go")).to_have_count(0)
    assert state_of(full, archived).status == "deleted"
    keys.skip()
    keys.use(keys.page.get_by_role("button", name="Restore The west quay crane"))
    said(keys, "Restored")
    assert state_of(full, archived).status == "live"


def test_memory__pinned_edited_verified_deleted__by_keys_and_brought_back(full: Full, keys: Keys) -> None:
    def button(name: str) -> Locator:
        return keys.page.locator("main").get_by_role("button", name=name, exact=True)

    keys.go(full.at(f"memories/{mem(full.memory)}/"))
    keys.skip()
    keys.use(keys.page.locator("summary", has_text="Pin it"))
    keys.tab_to(keys.page.locator("#pin-reason"))
    keys.type(WHY)
    keys.use(button("Pin"))
    said(keys, "Pinned")
    assert state_of(full, full.memory).pin_reason == WHY
    keys.skip()
    keys.use(button("Unpin"), "Space")
    said(keys, "Unpinned")
    keys.skip()
    keys.use(button("Still true"))
    said(keys, "Confirmed")
    keys.skip()
    keys.use(keys.page.locator("summary", has_text="Edit it"), "Space")
    keys.tab_to(keys.page.locator("#edit-content"))
    keys.press("Control+A")
    keys.type("The staging cluster runs in region eu-south-1 behind the green gateway.")
    keys.use(button("Save"))
    said(keys, "Saved as a new version")
    assert "green gateway" in state_of(full, full.memory).content
    keys.skip()
    keys.use(keys.page.get_by_role("link", name="Delete…"))
    keys.skip()
    keys.tab_to(keys.page.locator("#reason"))
    keys.type("moved away")
    keys.use(button("Delete"))
    said(keys, "Deleted")
    assert state_of(full, full.memory).status == "deleted"
    keys.go(full.at(f"memories/{mem(full.memory)}/"))
    keys.skip()
    keys.use(keys.page.get_by_role("link", name="Restore…"))
    keys.skip()
    keys.use(button("Restore"))
    said(keys, "Restored")
    assert state_of(full, full.memory).status == "live"


def test_memories__picked_and_deleted_together__by_keys_and_taken_back(full: Full, keys: Keys) -> None:
    rows = [
        write(full.stage.coder, content=f"Rack 9 holds the spare modem number {one}.") for one in (412, 413)
    ]
    keys.go(full.at("memories/?q=modem"))
    keys.skip()
    for row in reversed(rows):
        keys.use(keys.page.locator(f"input[name=id][value={mem(row)}]"), "Space")
    keys.use(keys.page.get_by_role("button", name="Delete picked…"))
    keys.skip()
    keys.tab_to(keys.page.locator("#reason"))
    keys.type("scrapped")
    keys.use(keys.page.get_by_role("button", name="Delete 2"))
    said(keys, "Deleted: 2")
    assert {state_of(full, row).status for row in rows} == {"deleted"}
    keys.press("u")
    said(keys, "taken back")
    with full.stage.context():
        back = Job.objects.get(kind="memories.undelete")
    assert deletion_run(full.stage.tenant.id, back.id) == "done"
    expect(keys.page.locator("#step [role=status]")).to_contain_text("2 memories came back")
    assert {state_of(full, row).status for row in rows} == {"live"}


def test_sign_in_and_language__by_keys_alone(full: Full, open_as: OpenAs) -> None:
    keys = Keys(open_as(None))
    keys.go("/accounts/login/")
    german = keys.page.locator("button[name=language][value=de]")
    keys.use(german)
    expect(keys.page.locator("html")).to_have_attribute("lang", "de")
    keys.use(keys.page.locator("button[name=language][value=en]"), "Space")
    expect(keys.page.locator("html")).to_have_attribute("lang", "en")
    keys.skip()
    keys.tab_to(keys.page.locator("[name=login]"))
    keys.type(full.stage.reviewer.user.email)
    keys.tab_to(keys.page.locator("[name=password]"))
    keys.type(PASSWORD)
    keys.press("Enter")
    keys.page.wait_for_url(f"**{full.base}")
    keys.use(german, "Space")
    expect(keys.page.locator("html")).to_have_attribute("lang", "de")
    assert keys.unseen == []


def test_shortcuts__switched_off_in_the_dialog__do_nothing_and_buttons_still_do(
    full: Full, keys: Keys
) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    keys.go(path)
    keys.press("?")
    dialog = keys.page.locator("dialog#keys")
    expect(dialog).to_be_visible()
    keys.use(keys.page.locator("#keys-on"), "Space")
    keys.use(dialog.get_by_role("button", name="Close"))
    expect(dialog).to_be_hidden()
    _nothing_happens(full, keys, path)
    keys.skip()
    keys.use(keys.page.locator("form.decide button[value=approve]"), "Space")
    said(keys, "Approved")
    assert request_of(full, full.request) == "approved"


def test_shortcuts__switched_off_in_the_account__do_nothing(full: Full, open_as: OpenAs) -> None:
    person = make_person(full.stage.tenant, "reviewer", name="No Shortcuts")
    person.user.shortcuts = False
    person.user.save()
    keys, path = Keys(open_as(person)), full.at(f"promotions/{prm(full.request)}/")
    keys.go(path)
    _nothing_happens(full, keys, path)


def _nothing_happens(full: Full, keys: Keys, path: str) -> None:
    """No shortcut decides, moves, picks or leads away."""
    asked: list[str] = []
    keys.page.on("request", lambda request: asked.append(request.url))
    keys.press("a", "r", "x", "j", "k", "u", "/", "g", "m")
    assert [url for url in asked if full.base in url] == []
    assert keys.page.url.endswith(path)
    assert keys.page.evaluate("document.activeElement.matches('input')") is False
    assert keys.page.locator(".pick :checked").count() == 0
    assert request_of(full, full.request) == "pending"

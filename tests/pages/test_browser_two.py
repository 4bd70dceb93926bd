"""Two people at once, each in a browser of their own: nothing is lost, and the page says what happened."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from memory.models import Contradiction, Memory, PromotionRequest
from tests.browser import OpenAs
from tests.factories import Person, make_person
from tests.pages.staging import Full, ask, mem, prm, write

TYPED = "Only the night shift needs this"


def second(full: Full) -> Person:
    """Another reviewer."""
    return make_person(full.stage.tenant, "reviewer", name="Second Pair")


def request_of(full: Full) -> PromotionRequest:
    with full.stage.context():
        found: PromotionRequest = PromotionRequest.objects.get(id=full.request.id)
        return found


def decide(page: Page, action: str, reason: str = "") -> None:
    """Press the button of the form, with a reason."""
    page.locator("#reason").fill(reason)
    page.locator(f"form.decide button[value={action}]").click()


def test_stale_approve__says_who_was_first_and_keeps_what_was_typed(full: Full, open_as: OpenAs) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    slow, fast = open_as(full.stage.reviewer).go(path), open_as(second(full)).go(path)
    slow.locator("#reason").fill(TYPED)
    decide(fast, "reject", "not general")
    expect(fast.locator("#toasts")).to_contain_text("Rejected")
    slow.locator("form.decide button[value=approve]").click()
    notice = slow.get_by_role("alert")
    expect(notice).to_contain_text("Second Pair rejected it before you")
    expect(notice).to_contain_text("not general")
    expect(notice.locator("#typed")).to_have_value(TYPED)
    expect(notice.locator("h2")).to_be_focused()
    expect(slow.locator("#count-promotions")).to_contain_text("0")
    assert request_of(full).status == "rejected"


def test_stale_approve__without_javascript__says_the_same(full: Full, open_as: OpenAs) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    slow, fast = open_as(full.stage.reviewer, javascript=False).go(path), open_as(second(full)).go(path)
    decide(fast, "reject", "not general")
    expect(fast.locator("#toasts")).to_contain_text("Rejected")
    decide(slow, "approve", TYPED)
    expect(slow.get_by_role("alert")).to_contain_text("Second Pair rejected it before you")
    expect(slow.locator("#typed")).to_have_value(TYPED)


def test_undo__after_someone_else_acted__takes_nothing_back_and_says_why(full: Full, open_as: OpenAs) -> None:
    """The one approves; the other withdraws what came of it before the first thinks better of it."""
    path = full.at(f"promotions/{prm(full.request)}/")
    mine = open_as(full.stage.reviewer).go(path)
    decide(mine, "approve", "checked")
    expect(mine.locator("#toasts")).to_contain_text("Approved")
    with full.stage.context():
        promoted = Memory.objects.get(id=request_of(full).result_memory_id)
    theirs = open_as(second(full)).go(full.at(f"memories/{mem(promoted)}/delete/"))
    theirs.locator("[name=reason]").fill("it is not for everyone")
    theirs.locator("form.danger button, form button.no").last.click()
    expect(theirs.locator("#toasts")).to_contain_text("Deleted")
    mine.locator("#toasts button[data-undo]").click()
    expect(mine.get_by_role("alert")).to_contain_text("nothing was undone")
    assert request_of(full).status == "approved"
    with full.stage.context():
        assert Memory.objects.get(id=promoted.id).status == "deleted"


def test_bulk__while_the_queue_moves__decides_the_rest_and_names_what_it_left(
    full: Full, open_as: OpenAs
) -> None:
    newer = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    )
    bulk, other = open_as(full.stage.reviewer).go(full.at("promotions/")), open_as(second(full))
    bulk.keyboard.press("x")
    bulk.keyboard.press("j")
    expect(bulk.locator("#detail h2.value")).to_contain_text("staging cluster")
    bulk.keyboard.press("x")
    bulk.get_by_role("button", name="Approve…").click()
    expect(bulk.get_by_role("dialog")).to_contain_text("Approve 2 requests?")
    faster = other.go(full.at(f"promotions/{prm(newer)}/"))
    decide(faster, "reject", "not general")
    expect(faster.locator("#toasts")).to_contain_text("Rejected")
    bulk.get_by_role("dialog").get_by_role("button", name="Approve 2").click()
    expect(bulk.get_by_role("dialog")).to_be_hidden()
    expect(bulk.locator("#toasts")).to_contain_text("1 request decided")
    expect(bulk.locator("#toasts")).to_contain_text("left as it is")
    expect(bulk.locator("#list")).to_contain_text("The queue is clear")
    with full.stage.context():
        found = dict(PromotionRequest.objects.values_list("id", "status"))
    assert (found[full.request.id], found[newer.id]) == ("approved", "rejected")


def test_snooze__of_what_another_decided__is_told_and_puts_nothing_off(full: Full, open_as: OpenAs) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    slow, fast = open_as(full.stage.reviewer).go(path), open_as(second(full)).go(path)
    decide(fast, "reject", "not general")
    expect(fast.locator("#toasts")).to_contain_text("Rejected")
    slow.locator("summary", has_text="Put it off").or_(
        slow.locator("summary", has_text="Later")
    ).first.click()
    slow.locator("button[name=until]").first.click()
    expect(slow.get_by_role("alert")).to_contain_text("rejected already")
    assert request_of(full).status == "rejected"


def test_question__of_another__is_seen_by_both_and_stands_in_nobodys_way(full: Full, open_as: OpenAs) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    first, other = open_as(full.stage.reviewer).go(path), open_as(second(full)).go(path)
    first.locator("summary", has_text="Ask").first.click()
    first.locator("[name=text]").first.fill("Which night shift?")
    first.locator("form:has([name=text]) button").first.click()
    expect(first.locator("#toasts")).to_contain_text("Asked")
    other.reload()
    expect(other.locator("#detail")).to_contain_text("Which night shift?")
    decide(other, "approve", "checked")
    expect(other.locator("#toasts")).to_contain_text("Approved")
    assert request_of(full).status == "approved"


def test_looking__at_the_same__each_is_told_of_the_other(full: Full, open_as: OpenAs) -> None:
    path = full.at(f"promotions/{prm(full.request)}/")
    first, other = open_as(full.stage.reviewer), open_as(second(full))
    expect(first.go(path).locator("#detail")).not_to_contain_text("is looking at this too")
    expect(other.go(path).locator("#detail")).to_contain_text("Reviewer is looking at this too")
    expect(first.go(path).locator("#detail")).to_contain_text("Second Pair is looking at this too")


def test_contradiction__settled_by_another__is_told_and_not_overwritten(full: Full, open_as: OpenAs) -> None:
    with full.stage.context():
        shown = f"contradictions/con_{full.contradiction.id.hex}/"
    slow, fast = open_as(full.stage.reviewer).go(full.at(shown)), open_as(second(full)).go(full.at(shown))
    slow.locator("#reason").fill(TYPED)
    fast.locator("#reason").fill("the contract says so")
    fast.locator("form.decide button[value=keep_a]").click()
    expect(fast.locator("#toasts")).to_be_visible()
    slow.locator("form.decide button[value=keep_b]").click()
    expect(slow.get_by_role("alert")).to_contain_text("not saved")
    expect(slow.locator("#typed")).to_have_value(TYPED)
    with full.stage.context():
        assert Contradiction.objects.get(id=full.contradiction.id).resolution == "keep_a"


def test_session__ended_by_its_owner_elsewhere__keeps_the_form_and_goes_on_after_signing_in(
    full: Full, open_as: OpenAs
) -> None:
    """The other browser ends this session; what was typed is sent after a sign-in in another tab."""
    person = full.stage.reviewer
    page, other = open_as(person).go(full.at(f"promotions/{prm(full.request)}/")), open_as(person)
    page.locator("#reason").fill(TYPED)
    page.context.clear_cookies(name="sessionid")
    page.locator("form.decide button[value=reject]").click()
    expect(page.locator("#toasts")).to_contain_text("session ended")
    expect(page.locator("#reason")).to_have_value(TYPED)
    assert request_of(full).status == "pending"
    cookies = [one for one in other.page.context.cookies() if one["name"] == "sessionid"]
    page.context.add_cookies([{"name": "sessionid", "value": cookies[0]["value"], "url": other.base}])
    page.locator("form.decide button[value=reject]").click()
    expect(page.locator("#toasts")).to_contain_text("Rejected")
    assert request_of(full).status == "rejected"

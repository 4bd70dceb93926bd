"""A reviewer's work in Chromium: by keyboard, without JavaScript, and beside another reviewer."""

from __future__ import annotations

from playwright.sync_api import expect

from memory.models import Memory, PromotionRequest
from memory.services.promotion_decide import promotion_decide
from tests.browser import OpenAs
from tests.factories import make_person
from tests.pages.staging import Full, ask, prm, write


def statuses(full: Full, *requests: PromotionRequest) -> list[str]:
    with full.stage.context():
        found = dict(PromotionRequest.objects.values_list("id", "status"))
    return [found[one.id] for one in requests]


def test_keyboard__approve_undo_reject__without_touching_the_mouse(full: Full, open_as: OpenAs) -> None:
    older = full.request
    newer = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    )
    page = open_as(full.stage.reviewer).go(full.at("promotions/"))
    heading = page.locator("#detail h2.value")
    expect(heading).to_contain_text("Deploys of alpha")

    page.keyboard.press("j")
    expect(heading).to_contain_text("staging cluster")
    expect(heading).to_be_focused()
    page.keyboard.press("k")
    expect(heading).to_contain_text("Deploys of alpha")

    page.keyboard.press("a")
    expect(heading).to_contain_text("staging cluster")
    expect(heading).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("Approved")
    expect(page.locator("#count-promotions")).to_contain_text("1")
    assert statuses(full, newer, older) == ["approved", "pending"]

    page.keyboard.press("u")
    expect(heading).to_contain_text("Deploys of alpha")
    expect(page.locator("#count-promotions")).to_contain_text("2")
    assert statuses(full, newer, older) == ["pending", "pending"]

    page.keyboard.press("r")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#reason")).to_have_attribute("aria-invalid", "true")
    page.keyboard.type("too narrow for everyone")
    page.keyboard.press("Control+Enter")
    expect(heading).to_contain_text("staging cluster")
    assert statuses(full, newer, older) == ["rejected", "pending"]

    page.keyboard.press("a")
    expect(page.locator("#detail")).to_contain_text("Nothing to decide here")
    expect(page.locator("#list")).to_contain_text("The queue is clear")
    assert statuses(full, newer, older) == ["rejected", "approved"]


def test_undo__pressed_once__goes_with_its_toast(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer).go(full.at("promotions/"))
    page.locator("form.decide button[value=approve]").click()
    page.locator("#toasts button[data-undo]").click()
    expect(page.locator("#toasts")).to_contain_text("Taken back")
    expect(page.locator("#toasts button[data-undo]")).to_have_count(0)
    assert statuses(full, full.request) == ["pending"]


def test_quarantine__asked_about_a_deletion__does_not_look_deleted_yet(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer).go(full.at("quarantine/"))
    page.locator("#reason").fill("planted")
    page.locator("form.decide button[value=delete]").click()
    expect(page.locator("form.decide")).to_contain_text("Delete this entry?")
    expect(page.locator(".row-item[data-busy]")).to_have_count(0)
    page.locator("form.decide button[value=delete]").click()
    expect(page.locator("#list")).to_contain_text("Nothing is held back")


def test_two_reviewers__the_slower_one_is_told_and_loses_nothing(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer).go(full.at(f"promotions/{prm(full.request)}/"))
    page.locator("#reason").fill("I had typed this")
    other = make_person(full.stage.tenant, "reviewer", name="Ada Fictional")
    promotion_decide(other.principal, full.request.id, "reject", reason="not general", version=1)
    page.locator("form.decide button[value=approve]").click()
    expect(page.get_by_role("alert")).to_contain_text("Ada Fictional")
    expect(page.get_by_role("alert")).to_contain_text("not general")
    expect(page.locator("#list")).to_contain_text("The queue is clear")
    assert statuses(full, full.request) == ["rejected"]


def test_session__that_ended_mid_form__keeps_what_was_typed(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer).go(full.at(f"promotions/{prm(full.request)}/"))
    page.locator("#reason").fill("I had typed this")
    page.context.clear_cookies(name="sessionid")
    page.locator("form.decide button[value=reject]").click()
    expect(page.locator("#toasts")).to_contain_text("session ended")
    expect(page.locator("#reason")).to_have_value("I had typed this")
    assert statuses(full, full.request) == ["pending"]


def test_bulk__in_a_dialog__decides_the_selected(full: Full, open_as: OpenAs) -> None:
    newer = ask(
        full.stage.coder, write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    )
    page = open_as(full.stage.reviewer).go(full.at("promotions/"))
    page.keyboard.press("x")
    page.keyboard.press("j")
    expect(page.locator("#detail h2.value")).to_contain_text("staging cluster")
    page.keyboard.press("x")
    page.get_by_role("button", name="Approve…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve 2 requests?")
    dialog.get_by_role("button", name="Approve 2").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text("2 requests decided")
    assert statuses(full, full.request, newer) == ["approved", "approved"]
    page.keyboard.press("u")
    expect(page.locator("#toasts")).to_contain_text("2 decisions taken back")
    assert statuses(full, full.request, newer) == ["pending", "pending"]
    expect(page.locator("#list")).to_contain_text("staging cluster")


def test_without_javascript__everything_works_by_links_and_forms(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer, javascript=False).go(full.at("promotions/"))
    page.locator("#row-" + prm(full.request) + " a.card").click()
    page.locator("form.decide button[value=reject]").click()
    assert "give a reason" in page.locator("main").inner_text().lower()
    page.locator("#reason").fill("too narrow")
    page.locator("form.decide button[value=reject]").click()
    page.locator("#toasts button[data-undo]").click()
    assert statuses(full, full.request) == ["pending"]
    page.goto(page.url.split("promotions/")[0] + "memories/?q=gateway")
    page.locator("a[data-item]").first.click()
    page.locator("summary", has_text="Pin it").click()
    page.locator("#pin-reason").fill("the contract says so")
    page.locator("button", has_text="Pin").last.click()
    with full.stage.context():
        assert Memory.objects.get(id=full.memory.id).pin_reason == "the contract says so"


def test_sign_in__with_the_password__leads_to_the_only_tenant(full: Full, open_as: OpenAs) -> None:
    from tests.factories import PASSWORD

    page = open_as(None).go("/accounts/login/")
    page.get_by_label("E-mail").fill(full.stage.reviewer.user.email)
    page.get_by_label("Password").first.fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).last.click()
    page.wait_for_url(f"**{full.base}")


def test_chart__is_drawn_without_a_complaint(full: Full, open_as: OpenAs) -> None:
    from tests.pages.test_page_admin import snapshots

    snapshots(full.stage)
    page = open_as(full.stage.reviewer).go(full.at("health/?metric=contradictions&range=30"))
    expect(
        page.locator("[data-chart][data-ready] .js-plotly-plot, [data-chart][data-ready].js-plotly-plot")
    ).to_be_visible()
    page.locator("a[data-tile]", has_text="Stale share").click()
    expect(page.locator("#focus h2")).to_contain_text("Stale share")
    expect(page.locator("[data-chart][data-ready]")).to_be_visible()

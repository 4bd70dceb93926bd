"""Judging the sample and acting on alerts in Chromium: by keyboard, and without JavaScript."""

from __future__ import annotations

from playwright.sync_api import expect

from memory.models import Alert, SampleItem
from tests.browser import OpenAs
from tests.pages.axe import faults
from tests.pages.staging import Full, write
from tests.pages.test_page_admin import snapshots


def verdicts(full: Full) -> list[str]:
    with full.stage.context():
        return list(SampleItem.objects.order_by("place").values_list("verdict", flat=True))


def test_sample__judged_by_keyboard__with_undo_and_a_reason_where_one_is_needed(
    full: Full, open_as: OpenAs
) -> None:
    page = open_as(full.stage.reviewer).go(full.at("health/sample/"))
    heading = page.locator("#detail h2.value")
    first = heading.inner_text()
    page.keyboard.press("1")
    expect(heading).not_to_have_text(first)
    expect(heading).to_be_focused()
    assert verdicts(full)[0] == "right"
    page.keyboard.press("u")
    expect(heading).to_have_text(first)
    assert set(verdicts(full)) == {""}
    page.keyboard.press("2")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#reason")).to_have_attribute("aria-invalid", "true")
    page.keyboard.type("it never was so")
    page.keyboard.press("Control+Enter")
    expect(heading).not_to_have_text(first)
    assert verdicts(full)[0] == "wrong"
    page.keyboard.press("3")
    page.keyboard.type("no way to tell")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#views .n").nth(1)).to_have_text("2")
    assert verdicts(full)[:2] == ["wrong", "unsure"]


def test_sample_and_alerts__without_javascript__are_links_and_forms(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer, javascript=False).go(full.at("health/sample/"))
    page.locator("form.decide button[value=right]").click()
    page.locator("#toasts button[data-undo]").click()
    assert set(verdicts(full)) == {""}
    page.goto(page.url.split("health/")[0] + "alerts/")
    page.locator("input[name=note]").first.fill("a stuck session")
    page.get_by_role("button", name="Acknowledge").first.click()
    expect(page.locator("main")).to_contain_text("Nothing needs a look")
    with full.stage.context():
        assert Alert.objects.get(id=full.alert.id).note == "a stuck session"


def test_chart__that_does_not_load__says_so_and_can_be_asked_for_again(full: Full, open_as: OpenAs) -> None:
    snapshots(full.stage)
    tab = open_as(full.stage.reviewer)
    tab.page.route("**/health/figure.json*", lambda route: route.fulfill(status=503))
    page = tab.go(full.at("health/?metric=contradictions&range=30"))
    again = page.get_by_role("button", name="Try again")
    expect(page.get_by_text("The numbers are in the table")).to_be_visible()
    assert faults(page, "chart failed") == []
    page.unroute("**/health/figure.json*")
    again.click()
    expect(page.locator("[data-chart][data-ready]")).to_be_visible()
    expect(page.locator("[data-chart]")).to_have_attribute("role", "img")


def test_threshold__set_in_the_browser__at_phone_width(full: Full, open_as: OpenAs) -> None:
    write(full.stage.coder, content="Rack 7 of hall 3 holds the spare router number 310.")

    page = open_as(full.stage.owner, width=390, height=844).go(full.at("alerts/settings/"))
    page.get_by_role("link", name="Change Stale share").click()
    page.locator("#rule input[name=breach]").fill("66")
    page.locator("#rule button", has_text="Save").click()
    expect(page.locator("main")).to_contain_text("66 %")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

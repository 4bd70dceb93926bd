"""What only a browser shows: times as the server writes them, and boxes that hold what stands in them."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.template import Context, Template
from django.utils import translation
from playwright.sync_api import Page

from memory.domain.scopes import parse_grant
from memory.services import tenancy
from tests.browser import OpenAs
from tests.pages.staging import Full

LOCALISED = """moments => moments.map(moment => {
  const time = document.createElement('time');
  time.dateTime = moment; time.dataset.local = ''; document.body.append(time);
  document.dispatchEvent(new CustomEvent('htmx:load', {detail: {elt: time}}));
  return time.textContent;
})"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_times__in_the_browser__are_as_the_server_writes_them(
    full: Full, open_as: OpenAs, language: str
) -> None:
    tab = open_as(full.stage.reviewer, timezone_id="UTC")
    tab.page.context.add_cookies([{"name": "language", "value": language, "url": tab.base}])
    page = tab.go(full.base)
    moments = [dt.datetime(2026, month, month + 3, month, 5, tzinfo=dt.UTC) for month in range(1, 13)]
    with translation.override(language):
        said = [
            re.sub(r"<[^>]+>", "", Template("{% load memgov_ui %}{% when t %}").render(Context({"t": one})))
            for one in moments
        ]
    assert page.evaluate(LOCALISED, [one.isoformat() for one in moments]) == [
        one.removesuffix(" UTC") for one in said
    ]


def too_wide(page: Page, selector: str) -> list[str]:
    """What is wider than its box."""
    return list(
        page.locator(selector).evaluate_all(
            "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
        )
    )


def test_grants__of_many_scopes__stand_in_the_page_without_scrolling(full: Full, open_as: OpenAs) -> None:
    owner = full.stage.owner
    scopes = ("project:lamplight", "project:storefront", "project:workshop", "project:*", "user:*")
    rules = [parse_grant(f"{scope}=rwp") for scope in scopes]
    agent = tenancy.agent_create(owner.principal, "chief-owl", "orchestrator", rules)
    page = open_as(owner).go(full.at("scopes/"))
    assert page.locator(".scroll table").count() == 1
    assert too_wide(page, ".scroll") == []
    page.goto(page.url.replace("scopes/", f"agents/agt_{agent.id.hex}/"))
    heights = page.locator(".data.tight code").evaluate_all(
        "all => all.map(one => one.getClientRects().length)"
    )
    assert heights and set(heights) == {1}, "no scope is broken in two"


def test_side__shows_the_tenant_and_the_person_whole(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.owner).go(full.base)
    assert page.locator(".side .account > summary").inner_text().strip().endswith(full.stage.owner.user.email)
    assert too_wide(page, ".side .tenant b, .side .account > summary > span") == []

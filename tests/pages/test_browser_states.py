"""Every state of a page in Chromium, checked by axe in both themes and widths: empty, no match, 400 to 5xx, offline;
and what people with other needs get: zoom, forced colours, reduced motion, a live region.

The answers come from the product and are handed to the browser as they are, whatever their status.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client, override_settings
from playwright.sync_api import Page, expect

from memory.domain.ids import new_id
from memory.services.invitations import invitation_create, invitation_revoke
from tests.browser import OpenAs, Tab
from tests.factories import Stage, make_person
from tests.pages.axe import faults
from tests.pages.staging import Full, prm, signed_in
from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names
from tests.pages.test_page_admin import snapshots

EMPTY = (
    "", "promotions/", "contradictions/", "quarantine/", "evictions/", "memories/", "mounts/", "manifests/", "alerts/",
    "sweeps/", "vocabulary/", "health/", "health/verify/", "health/sample/", "blast/", "audit/",
)  # fmt: skip
NO_MATCH = (
    "promotions/?q=zzqq", "contradictions/?q=zzqq", "quarantine/?q=zzqq", "evictions/?q=zzqq", "memories/?q=zzqq",
    "manifests/?session=zzqq", "agents/?q=zzqq", "scopes/?q=zzqq", "sweeps/?name=chain", "audit/?q=zzqq",
)  # fmt: skip


def handed(tab: Tab, answer: HttpResponse, name: str = "shown") -> Page:
    """Open an answer of the product in the tab."""
    kept = ("Content-Type", "Content-Security-Policy")
    headers = {name: answer[name] for name in kept if name in answer}
    address = f"{tab.base}/{name}/"
    tab.page.route(
        address, lambda route: route.fulfill(status=answer.status_code, headers=headers, body=answer.content)
    )
    tab.page.goto(address)
    return tab.page


@pytest.fixture(params=[1440, 390])
def tab(request: pytest.FixtureRequest, open_as: OpenAs) -> Tab:
    """A window of either width, in which nobody is signed in: the answers are those of others."""
    return open_as(None, width=request.param)


def test_empty_pages__of_a_new_tenant__have_no_violation(stage: Stage, tab: Tab) -> None:
    owner, found = signed_in(stage.owner), []
    for path in EMPTY:
        page = handed(tab, owner.get(f"/t/{stage.tenant.slug}/{path}"), f"empty-{EMPTY.index(path)}")
        found += faults(page, path or "start")
    assert found == []


def test_searches__that_find_nothing__have_no_violation_and_lead_back(full: Full, tab: Tab) -> None:
    owner, found = signed_in(full.stage.owner), []
    for path in NO_MATCH:
        page = handed(tab, owner.get(full.at(path)), f"none-{NO_MATCH.index(path)}")
        assert page.locator(".empty a").count() > 0 or "None matches." in page.content(), path
        found += faults(page, path)
    assert found == []


def refusals(full: Full) -> Iterator[tuple[str, int, HttpResponse]]:
    """Each refusal that a person can meet, with its status."""
    owner, auditor = signed_in(full.stage.owner), signed_in(make_person(full.stage.tenant, "auditor"))
    decide = full.at(f"promotions/{prm(full.request)}/decide/")
    new = full.at("agents/new/")
    yield "NUL", 400, owner.post(decide, {"reason": "a\x00b", "action": "reject"})
    yield "role", 403, auditor.get(full.at("memories/new/"))
    yield "absent", 404, owner.get(full.at(f"memories/mem_{new_id().hex}/"))
    yield "method", 405, owner.delete(full.at("memories/"))
    yield "stale", 409, owner.post(decide, {"action": "reject", "reason": "no", "version": "9"})
    yield "no reason", 422, owner.post(decide, {"action": "reject", "version": "1"})
    yield "form", 422, owner.post(new, {"name": "", "role": "No Good", "grants": "x"})
    yield (
        "policy",
        422,
        owner.post(full.at("policies/"), {"document": "decay: [", "reason": "x", "active": "1"}),
    )
    yield (
        "alert rule",
        422,
        owner.post(full.at("alerts/settings/rules/"), {"metric": "regret", "breach": "x"}),
    )


def test_refusals__of_every_kind__have_no_violation(full: Full, tab: Tab) -> None:
    found = []
    for name, status, answer in refusals(full):
        assert answer.status_code == status, name
        if answer.content:
            found += faults(handed(tab, answer, f"refused-{status}-{name.replace(' ', '-')}"), name)
    assert found == []


def test_error_pages__without_a_database_or_session__have_no_violation(database: None, tab: Tab) -> None:
    found = []
    for name in ("400", "400_text", "403", "403_csrf", "404", "409", "429", "500", "offline"):
        typed = {"typed": [{"name": "reason", "text": "what was typed"}]}
        answer = HttpResponse(render_to_string(f"{name}.html", typed), status=200)
        found += faults(handed(tab, answer, f"error-{name}"), name)
    assert found == []


def test_invitations_and_the_demo__in_every_state__have_no_violation(full: Full, tab: Tab) -> None:
    nobody, found = Client(), []
    sent = invitation_create(
        full.stage.owner.principal, f"{full.stage.tenant.slug}-i@example.test", "auditor"
    )
    path = "/invite/" + sent.link.split("/invite/")[1]
    answers = [("open", nobody.get(path)), ("mistyped", nobody.post(path, {"name": "A", "password1": "x"}))]
    answers.append(("of another", signed_in(full.stage.reviewer).get(path)))
    invitation_revoke(full.stage.owner.principal, sent.invitation.id)
    answers.append(("taken back", nobody.get(path)))
    with override_settings(MEMGOV_DEMO_SANDBOXES=1):
        answers.append(("demo", nobody.get("/demo/")))
    for name, answer in answers:
        assert answer.status_code in (200, 404, 410, 422), name
        found += faults(handed(tab, answer, f"door-{name.replace(' ', '-')}"), name)
    assert found == []


ALL = [path for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS) if not path.endswith((".csv", ".json"))]
MOVING = """[...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);
  return parseFloat(s.transitionDuration) > 0.011 || (s.animationName !== 'none' &&
    parseFloat(s.animationDuration) > 0.011); }).map(e => String(e.className) || e.tagName)"""


@pytest.mark.parametrize("width", [640, 320])
def test_pages__at_200_percent__need_no_sideways_scrolling_and_reduced_do_not_move(
    full: Full, open_as: OpenAs, width: int
) -> None:
    """A window of 1280 at 200 % has 640 CSS pixels, one of 640 has 320: the width that WCAG asks for.  Every tab of the
    tests asks for reduced motion."""
    tab, wrong = open_as(full.stage.owner, width=width), []
    for path in [*(full.at(one.format(**names(full))) for one in ALL), "/", "/help/", "/me/"]:
        page = tab.go(path)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 1:
            wrong.append(f"{path} at {width}: {over} px")
        wrong += [f"{path}: {one} moves" for one in page.evaluate(MOVING)]
    assert wrong == []


def test_forced_colours__keep_focus_selection_and_borders(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer, forced_colors="active").go(full.at("promotions/"))
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    page.keyboard.press("Tab")
    looks: dict[str, Any] = page.evaluate(
        "(() => { const focus = getComputedStyle(document.activeElement);"
        " const button = getComputedStyle(document.querySelector('form.decide button'));"
        " const row = getComputedStyle(document.querySelector('[aria-current=true]'));"
        " return {focus: [focus.outlineStyle, parseFloat(focus.outlineWidth)], border: button.borderTopStyle,"
        " row: [row.outlineStyle, row.borderLeftStyle, row.backgroundColor]}; })()"
    )
    assert looks["focus"][0] != "none" and looks["focus"][1] >= 1
    assert looks["border"] != "none"


# What a theme that replaces all colours takes away is told by lines instead: what can be pressed and what is chosen has
# an edge (boxes to tick the browser draws itself), a bar that is nothing but its colour keeps it, and no icon or text
# has the colour of its ground.
_BARS = """() => { for (const one of document.querySelectorAll('main *')) {
  const look = getComputedStyle(one), box = one.getBoundingClientRect();
  if (!one.children.length && !one.textContent.trim() && box.width > 2 && box.height > 2 && !one.closest('svg')
      && !one.matches('input, select, textarea') && look.backgroundColor !== 'rgba(0, 0, 0, 0)') one.dataset.bar = '';
} }"""
_FORCED = """() => {
  const wrong = [], sides = ['Top', 'Bottom', 'Left', 'Right'];
  const shown = (one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true})
    && one.getBoundingClientRect().width > 1;
  const drawn = (style, width) => style !== 'none' && parseFloat(width) > 0;
  const edge = (look) => drawn(look.outlineStyle, look.outlineWidth)
    || sides.some((side) => drawn(look[`border${side}Style`], look[`border${side}Width`]));
  const name = (one) => `${one.tagName} ${one.getAttribute('class')} ${one.textContent.trim().slice(0, 30)}`;
  const edged = 'main .btn, main input:not([type=hidden], [type=checkbox], [type=radio], [type=file]), main select,'
    + ' main textarea, main .chip, [aria-current], [aria-pressed=true]';
  for (const one of document.querySelectorAll(edged))
    if (shown(one) && !edge(getComputedStyle(one))) wrong.push(`no edge: ${name(one)}`);
  for (const one of document.querySelectorAll('[data-bar]')) {
    const look = getComputedStyle(one);
    if (shown(one) && !edge(look) && look.forcedColorAdjust !== 'none') wrong.push(`no bar: ${name(one)}`);
  }
  for (const one of document.querySelectorAll('svg, h1, h2, td, dd, p, a')) {
    let ground = one;
    while (ground && getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    if (shown(one) && ground && getComputedStyle(one).color === getComputedStyle(ground).backgroundColor)
      wrong.push(`not seen: ${name(one)}`);
  }
  return wrong;
}"""
_FOCUS = """() => { const one = document.activeElement, look = getComputedStyle(one);
  return one !== document.body && look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 1; }"""
MAIN = (
    "", "memories/", "memories/{mem}/", "contradictions/", "contradictions/{con}/", "quarantine/", "quarantine/{held}/",
    "audit/", "health/", "settings/", "promotions/", "agents/", "policies/",
)  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_forced_colours__on_the_main_pages__leave_edges_focus_bars_and_texts(
    full: Full, open_as: OpenAs, dark: bool
) -> None:
    snapshots(full.stage)
    tab, found = open_as(full.stage.owner, dark=dark), []
    for path in MAIN:
        tab.page.emulate_media(forced_colors="none")
        page = tab.go(full.at(path.format(**names(full))))
        page.evaluate(_BARS)
        page.emulate_media(forced_colors="active")
        assert page.evaluate("matchMedia('(forced-colors: active)').matches")
        found += [f"{path or 'start'}: {one}" for one in page.evaluate(_FORCED)]
        for at in range(6):
            page.keyboard.press("Tab")
            if not page.evaluate(_FOCUS):
                found.append(f"{path or 'start'}: focus {at} is not seen")
    assert "\n".join(sorted(set(found))) == ""


def test_results__are_told_in_a_polite_live_region(full: Full, open_as: OpenAs) -> None:
    page = open_as(full.stage.reviewer).go(full.at(f"promotions/{prm(full.request)}/"))
    region = page.locator("#toasts")
    assert (region.get_attribute("role") == "status") or (region.get_attribute("aria-live") == "polite")
    page.locator("#reason").fill("too narrow")
    page.locator("form.decide button[value=reject]").click()
    expect(region).to_contain_text("Rejected")

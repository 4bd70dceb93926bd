"""Pages from right to left and in long words, at 1440 and 390 px: nothing runs over, nothing covers another control."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import OpenAs, Web, served
from tests.languages.pseudo import write_pseudo

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.pages.staging import Full

WIDTHS = ((1440, 900), (390, 844))
HEBREW = "שרת הבדיקות רץ באזור eu-north-4 (מאחורי השער)"
# What lies where it is reached for: pairs of controls that share more than a few pixels, by their place in the page.
COVERED = """() => {
  const seen = [...document.querySelectorAll('a, button, input, select, textarea, summary, h1, h2, h3, th, td')]
    .filter(e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter(e => !e.closest('.vh, .skip, .toasts, dialog, .cards thead'))
    .map((e, at) => [e, e.getBoundingClientRect(), at]).filter(([, b]) => b.width > 2 && b.height > 2);
  const found = [];
  for (const [e, a, i] of seen) for (const [f, b, j] of seen) {
    if (j <= i || e.contains(f) || f.contains(e)) continue;
    const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (w > 3 && h > 3) found.push(`${i} ${e.tagName} over ${j} ${f.tagName}: ${e.textContent.trim().slice(0, 30)}`);
  }
  return found;
}"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="session")
def web(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The product's web process with a language from right to left."""
    folder = tmp_path_factory.mktemp("rtl")
    locale = write_pseudo(folder / "locale", "ar")
    module = "tests.languages.rtl_settings"
    with served(folder, DJANGO_SETTINGS_MODULE=module, MEMGOV_TEST_LOCALE=str(locale)) as running:
        yield running


def _measured(page: Page) -> tuple[int, set[str]]:
    """By how much the page is too wide once it is at rest (a chart follows its frame), and what is covered."""
    for _try in range(30):
        if page.evaluate(WIDER) <= 0:
            break
        page.wait_for_timeout(100)
    return page.evaluate(WIDER), set(page.evaluate(COVERED))


def _folded(page: Page, *, narrow: bool) -> None:
    """Until the menu has followed the width: it folds when the browser says so, not at once."""
    if page.locator(".navbox").count():
        page.wait_for_selector(".navbox:not([open])" if narrow else ".navbox[open]", state="attached")


def _shot(page: Page, name: str) -> None:
    """A picture to look at, where somebody asks for them."""
    if folder := os.environ.get("MEMGOV_TEST_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.parametrize(("language", "direction"), [("ar", "rtl"), ("de", "ltr")])
def test_pages__in_other_writing__run_over_nothing_and_cover_nothing(
    full: Full, open_as: OpenAs, language: str, direction: str
) -> None:
    from tests.pages.staging import write
    from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names

    write(full.stage.coder, content=HEBREW)
    tab, filled, found = open_as(full.stage.owner, locale=language), names(full), []
    paths = [full.at(path.format(**filled)) for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS)]
    pages = [path for path in ("/", "/help/", "/me/", *paths) if not path.endswith((".csv", ".json"))]
    for path in pages:
        page = tab.go(path)
        html = page.locator("html")
        assert (html.get_attribute("lang"), html.get_attribute("dir") or "ltr") == (language, direction), path
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            _folded(page, narrow=width < 900)
            wider, covered = _measured(page)
            _shot(page, f"{language}-{width}-{path.strip('/').replace('/', '_') or 'home'}"[:80])
            page.evaluate("document.documentElement.dir = 'ltr'")
            _wider, usual = _measured(page)
            page.evaluate("way => { document.documentElement.dir = way; }", direction)
            found += [f"{path} {width}: {wider} px too wide"] if wider > 0 else []
            found += [f"{path} {width}: {one}" for one in sorted(covered - usual)]
    assert found == []
    assert len(pages) > 50


def test_the_shell__from_right_to_left__begins_at_the_right(full: Full, open_as: OpenAs) -> None:
    """The positive control: the menu is at the right of the main part, and a covered control is seen."""
    page = open_as(full.stage.owner, locale="ar").go(full.at(""))
    menu, main = page.locator(".side").bounding_box(), page.locator("main").bounding_box()
    assert menu and main and menu["x"] >= main["x"] + main["width"] - 1
    before = set(page.evaluate(COVERED))
    page.evaluate("""() => {
      const heading = document.querySelector('main h1'), button = document.createElement('button');
      button.textContent = 'on top';
      heading.before(button);
      button.style.position = 'absolute';
    }""")
    assert any("BUTTON over" in one for one in set(page.evaluate(COVERED)) - before)


def test_memories__written_from_the_right__are_isolated_on_a_page_from_the_left(full: Full) -> None:
    """Their text turns neither what stands beside it nor its own brackets."""
    from tests.pages.staging import mem, signed_in, write

    memory = write(full.stage.coder, content=HEBREW)
    browser = signed_in(full.stage.owner)
    for path in ("memories/", f"memories/{mem(memory)}/"):
        page = browser.get(full.at(path)).content.decode()
        assert f"<bdi>{HEBREW}</bdi>" in page
    plain = browser.get(full.at(f"memories/{mem(full.memory)}/")).content.decode()
    assert "<bdi>The staging cluster" not in plain

"""Takes the pictures of the docs from a running product with its demo: `make screenshots`.

Every page of the site map goes into docs/images/pages, in both themes, and docs/pages.md shows them; the five of the
README go into docs/images.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memgov.embedded import runtime
from scripts.chromium import chromium_path

IMAGES = ROOT / "docs" / "images"


class Picture(NamedTuple):
    """A page: its address below the tenant (a leading slash: of the installation), and what to click there first."""

    name: str
    address: str
    title: str
    says: str
    click: str = ""


class Part(NamedTuple):
    """Pages that stand together in docs/pages.md."""

    title: str
    pictures: tuple[Picture, ...]


PARTS = (
    Part(
        "Review",
        (
            Picture(
                "start", "", "Start", "What waits for people, what happened lately, and how the memory is."
            ),
            Picture(
                "promotions", "promotions/", "Promotions", "The queue, and one request with its evidence."
            ),
            Picture(
                "contradictions",
                "contradictions/",
                "Contradictions",
                "Two values for one thing, side by side, with what the words differ in.",
            ),
            Picture(
                "quarantine",
                "quarantine/",
                "Quarantine",
                "What was held back, and the words it was held for.",
            ),
            Picture(
                "evictions",
                "evictions/",
                "Evictions",
                "What was archived in the last days and can be brought back.",
            ),
            Picture(
                "blast",
                "blast/?since=2020-01-01",
                "Blast radius",
                "Everything from one source, and who was given it; held back in one step.",
            ),
            Picture(
                "sample",
                "health/sample/",
                "Weekly sample",
                "Memories drawn to be judged: right, wrong or unsure.",
            ),
            Picture(
                "verify",
                "health/verify/",
                "Verify",
                "Old memories that are still used and need a fresh look.",
            ),
        ),
    ),
    Part(
        "Memory",
        (
            Picture("memories", "memories/", "Memories", "The explorer with its filters and saved views."),
            Picture(
                "memory",
                "memories/?pinned=1",
                "One memory",
                "Its revisions, sources, readers and fields.",
                "main table a, main [data-item]",
            ),
            Picture(
                "memory-new",
                "memories/new/",
                "Write a memory",
                "By hand, through the same gates as an agent's.",
            ),
            Picture(
                "reads", "manifests/", "Reads", "Every retrieval and digest, with its reader and its task."
            ),
            Picture(
                "read",
                "manifests/",
                "One read",
                "What was given, why, and what was left out.",
                "main table a",
            ),
            Picture("mounts", "mounts/", "Mounts", "What a repository's file gives its readers first."),
        ),
    ),
    Part(
        "Health",
        (
            Picture(
                "health", "health/", "Health", "Nineteen metrics, and a chart with the policy change marked."
            ),
            Picture("alerts", "alerts/", "Alerts", "What fires, since when, and who has seen it."),
            Picture(
                "alert-settings", "alerts/settings/", "Alert settings", "Channels, rules and what was sent."
            ),
            Picture("sweeps", "sweeps/", "Sweeps", "What each round would do or did, and its undoing."),
            Picture("audit", "audit/", "Audit", "The log with its chain of hashes."),
        ),
    ),
    Part(
        "Administration",
        (
            Picture("agents", "agents/", "Agents", "Who writes and reads, and when last."),
            Picture(
                "agent", "agents/", "One agent", "Its keys, grants and how its writes fared.", "main table a"
            ),
            Picture("agent-new", "agents/new/", "New agent", "Its name, its kind and its first grants."),
            Picture("members", "members/", "Members", "People, roles and invitations."),
            Picture("scopes", "scopes/", "Scopes", "Where memories live, and who may do what there."),
            Picture("policies", "policies/", "Policies", "Versions, drafts and what is active."),
            Picture(
                "policy", "policies/1/", "One version of the policy", "Its document and what it changed."
            ),
            Picture(
                "policy-presets", "policies/presets/", "Presets", "The three starting points, side by side."
            ),
            Picture(
                "vocabulary",
                "vocabulary/",
                "Vocabulary",
                "Names that mean one thing, and kinds of statements.",
            ),
            Picture("imports", "imports/", "Imports", "A file from elsewhere, tried before it is taken in."),
            Picture("exports", "exports/", "Exports", "Everything of the tenant as a file."),
            Picture("settings", "settings/", "Settings", "The tenant's rules, and its end."),
        ),
    ),
    Part(
        "You and the installation",
        (
            Picture("account", "/me/", "Account", "Language, theme, second factor and sessions."),
            Picture("help", "/help/", "Help", "The words of the pages, and the keys."),
            Picture("sign-in", "/accounts/login/", "Sign in", "With a password or a passkey."),
        ),
    ),
)
THEMES = ("light", "dark")
SIGNED_OUT = ("sign-in",)
PHONE = ("start", "promotions", "quarantine", "memories", "memory", "health")
"""What is shown at 390 px as well."""
WIDE, NARROW = 1440, 390
LOW, HIGH = 1150, 1320
"""A picture is as high as its page between these, in px; what a page has below is not shown, but for TALL."""
LOW_NARROW = 700
TALLEST = 1900
QUALITY = 70
HEAD = """# The pages

Every page of the product with its demo tenant, as an admin sees it, in both themes. `make screenshots` takes these
pictures and writes this page. What people do on them is told in [Review day](tutorials/review-day.md).
"""
TALL = ("health",)  # whose chart stands below its tiles
IN_README = ("promotions", "health", "memory", "quarantine", "audit")


def main() -> None:
    """Sign in as the demo's admin and photograph every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=str(runtime.default_data_dir()))
    data_dir = Path(parser.parse_args().data_dir)
    running = runtime.read(data_dir)
    if not running or not (data_dir / "demo.json").exists():
        raise SystemExit("start the product with its demo first: make up")
    demo = json.loads((data_dir / "demo.json").read_text())
    person = next(
        one for one in demo["sign_ins"] if one["role"] == "admin" and one["tenant"] == demo["tenant"]
    )
    (IMAGES / "pages").mkdir(parents=True, exist_ok=True)
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for theme in THEMES:
            photograph(browser, running["web_url"], demo["tenant"], person, theme)
        browser.close()
    (ROOT / "docs" / "pages.md").write_text(shown(), encoding="utf-8")


def photograph(browser: Browser, base: str, tenant: str, person: dict[str, str], theme: str) -> None:
    """All pages in one theme: first those that are seen before anybody signs in."""
    context = browser.new_context(
        viewport={"width": WIDE, "height": LOW},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
        locale="en-GB",
    )
    page = context.new_page()
    for picture in sorted(pictures(), key=lambda one: one.name not in SIGNED_OUT):
        if picture.name not in SIGNED_OUT and not page.url.startswith(f"{base}/t/"):
            sign_in(page, base, person)
        address = picture.address
        page.set_viewport_size({"width": WIDE, "height": LOW})
        page.goto(base + (address if address.startswith("/") else f"/t/{tenant}/{address}"))
        if picture.click:
            page.locator(picture.click).first.click()
        settle(page)
        take(page, picture.name, theme)
    context.close()


def sign_in(page: Page, base: str, person: dict[str, str]) -> None:
    """Once; a person who is signed in already is sent on."""
    page.goto(f"{base}/accounts/login/")
    if page.locator("input[name=login]").count():
        page.locator("input[name=login]").fill(person["email"])
        page.locator("input[name=password]").fill(person["password"])
        page.locator("form button.go").first.click()
    page.wait_for_url("**/t/**")


def take(page: Page, name: str, theme: str) -> None:
    """The picture of the page as it stands, that of the README, and that on a phone."""
    small(page, f"{name}-{theme}", WIDE)
    if theme == "light" and name in IN_README:
        page.screenshot(path=IMAGES / f"{name}.png")
    if name in PHONE:
        small(page, f"{name}-phone-{theme}", NARROW)


def small(page: Page, name: str, width: int) -> None:
    """As WebP, a quarter of a PNG: all of them are kept with the sources."""
    low = LOW if width == WIDE else LOW_NARROW
    page.set_viewport_size({"width": width, "height": low})
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    high = TALLEST if name.split("-")[0] in TALL and width == WIDE else HIGH
    page.set_viewport_size({"width": width, "height": min(max(height, low), high)})
    settle(page)
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    session.detach()
    (IMAGES / "pages" / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))


def settle(page: Page) -> None:
    """Wait until nothing loads any more and a chart, if there is one, is drawn."""
    page.wait_for_load_state("networkidle")
    chart = page.locator("[data-figure], .chart").first
    if chart.count():
        chart.scroll_into_view_if_needed()  # it is drawn when it comes into sight
        page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=30_000)
        page.evaluate("scrollTo(0, 0)")


def pictures() -> list[Picture]:
    """Every one, in the order of docs/pages.md."""
    return [picture for part in PARTS for picture in part.pictures]


def files() -> set[str]:
    """The names of all files of docs/images/pages."""
    names = [picture.name for picture in pictures()] + [f"{name}-phone" for name in PHONE]
    return {f"{name}-{theme}.webp" for name in names for theme in THEMES}


def shown() -> str:
    """docs/pages.md: each page in light and dark, side by side."""
    lines = [HEAD]
    for part in PARTS:
        lines.append(f"\n## {part.title}\n")
        for picture in part.pictures:
            lines += [f"\n### {picture.title}\n\n{picture.says}\n\n", *_row(picture.name, picture.title)]
    lines.append("\n## On a phone\n")
    for name in PHONE:
        (title,) = (picture.title for picture in pictures() if picture.name == name)
        lines += [f"\n### {title}, narrow\n\n", *_row(f"{name}-phone", f"{title}, narrow")]
    return "".join(lines)


def _row(name: str, title: str) -> list[str]:
    cells = [f"![{title}, {theme}](images/pages/{name}-{theme}.webp)" for theme in THEMES]
    return ["| light | dark |\n|---|---|\n", f"| {' | '.join(cells)} |\n"]


if __name__ == "__main__":
    main()

"""Takes the pictures of the docs from a running product with its demo: `make screenshots`.

Every page of the site map goes into docs/images/pages, in both themes; the five of the README into docs/images.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from memgov.embedded import runtime

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
CHROMIUM = os.environ.get("MEMGOV_TEST_CHROMIUM", "/usr/bin/chromium")

# Name, address below the tenant (a leading slash: of the installation), and what to click first.
PAGES = (
    ("start", "", None),
    ("promotions", "promotions/", None),
    ("contradictions", "contradictions/", None),
    ("quarantine", "quarantine/", None),
    ("evictions", "evictions/", None),
    ("blast", "blast/?since=2020-01-01", None),
    ("sweeps", "sweeps/", None),
    ("memories", "memories/", None),
    ("memory", "memories/?pinned=1", "main table a, main [data-item]"),
    ("memory-new", "memories/new/", None),
    ("reads", "manifests/", None),
    ("read", "manifests/", "main table a"),
    ("mounts", "mounts/", None),
    ("health", "health/", None),
    ("sample", "health/sample/", None),
    ("verify", "health/verify/", None),
    ("alerts", "alerts/", None),
    ("alert-settings", "alerts/settings/", None),
    ("audit", "audit/", None),
    ("agents", "agents/", None),
    ("agent", "agents/", "main table a"),
    ("members", "members/", None),
    ("scopes", "scopes/", None),
    ("settings", "settings/", None),
    ("policies", "policies/", None),
    ("policy-presets", "policies/presets/", None),
    ("vocabulary", "vocabulary/", None),
    ("account", "/me/", None),
    ("help", "/help/", None),
    ("home", "/", None),
)
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
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            photograph(browser, running["web_url"], demo["tenant"], person, theme)
        browser.close()


def photograph(browser: Browser, base: str, tenant: str, person: dict[str, str], theme: str) -> None:
    """All pages in one theme."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
    )
    page = context.new_page()
    page.goto(f"{base}/accounts/login/")
    page.locator("input[name=login]").fill(person["email"])
    page.locator("input[name=password]").fill(person["password"])
    page.locator("form button.go").first.click()
    page.wait_for_url("**/t/**")
    (IMAGES / "pages").mkdir(parents=True, exist_ok=True)
    for name, address, click in PAGES:
        page.set_viewport_size({"width": 1440, "height": 1430 if name in TALL else 900})
        page.goto(base + (address if address.startswith("/") else f"/t/{tenant}/{address}"))
        if click:
            page.locator(click).first.click()
        settle(page)
        page.screenshot(path=IMAGES / "pages" / f"{name}-{theme}.png")
        if theme == "light" and name in IN_README:
            page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


def settle(page: Page) -> None:
    """Wait until nothing loads any more and a chart, if there is one, is drawn."""
    page.wait_for_load_state("networkidle")
    if page.locator("[data-figure], .chart").count():
        page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=15_000)


if __name__ == "__main__":
    main()

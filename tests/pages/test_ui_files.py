"""What the content security policy, the size budget and the sprite ask of templates and static files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

from memory.pages.templatetags import chips, navigation

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STATIC = ROOT / "static"
KB = 1000
FORBIDDEN = {
    "style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "style element": re.compile(r"<style\b", re.IGNORECASE),
    "inline handler": re.compile(r"<[^>{]*\son[a-z]+\s*=\s*[\"']", re.IGNORECASE),
    "hx-on": re.compile(r"\bhx-on\b"),
    "evaluated hx-vals": re.compile(r"hx-vals\s*=\s*[\"']js:"),
    "script without nonce": re.compile(r"<script\b(?![^>]*(nonce=|type=\"application/json\"))[^>]*>"),
    "filter in a trigger": re.compile(r"hx-trigger=\"[^\"]*\["),
}


def without_comments(source: str) -> str:
    return re.sub(r"{% comment %}.*?{% endcomment %}", "", source, flags=re.DOTALL)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "templates").as_posix()


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_template__compiles(path: Path) -> None:
    get_template(name_of(path))


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_template__keeps_the_content_security_policy(path: Path) -> None:
    source = without_comments(path.read_text())
    found = {rule: hit.group()[:80] for rule, pattern in FORBIDDEN.items() if (hit := pattern.search(source))}
    assert found == {}


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_template__form_that_posts__carries_the_csrf_token(path: Path) -> None:
    source = without_comments(path.read_text())
    forms = re.findall(r"<form\b[^>]*method=\"post\".*?</form>", source, flags=re.DOTALL)
    assert [form[:80] for form in forms if "csrf_token" not in form] == []


def test_forbidden_patterns__bad_markup__is_caught() -> None:
    bad = {
        "style attribute": '<p style="x">',
        "style element": "<style>",
        "inline handler": '<b onclick="x">',
        "hx-on": '<b hx-on:click="x">',
        "evaluated hx-vals": "<b hx-vals='js:x'>",
        "script without nonce": '<script src="x">',
        "filter in a trigger": '<b hx-trigger="keyup[x]">',
    }
    assert {rule for rule, markup in bad.items() if FORBIDDEN[rule].search(markup)} == set(FORBIDDEN)


def icons_used() -> set[str]:
    used = {entry.icon for group in navigation.GROUPS for entry in group.entries}
    used |= {look.icon for family in chips.FAMILIES.values() for look in family.values()}
    for path in TEMPLATES:
        used |= set(re.findall(r"{% icon \"([a-z0-9-]+)\"", path.read_text()))
    return used - {""}


def test_sprite__holds_every_icon_in_use() -> None:
    held = set(re.findall(r"<symbol id=\"([a-z0-9-]+)\"", (STATIC / "icons.svg").read_text()))
    assert icons_used() - held == set()


@pytest.mark.parametrize(
    ("names", "limit"),
    [
        (["app.css", "parts.css", "pages.css"], 14 * KB),
        (["app.js", "live.js", "keys.js", "charts.js"], 8 * KB),
        (["icons.svg"], 6 * KB),
        (["fonts/inter-latin.woff2"], 50 * KB),
        (["vendor/plotly-basic-4.1.1.min.js"], 400 * KB),
    ],
    ids=["styles", "scripts", "icons", "font", "plotly"],
)
def test_static_files__stay_within_the_budget(names: list[str], limit: int) -> None:
    def sent(name: str) -> int:
        body = (STATIC / name).read_bytes()
        return len(body if name.endswith("woff2") else gzip.compress(body, 9))

    assert sum(sent(name) for name in names) <= limit

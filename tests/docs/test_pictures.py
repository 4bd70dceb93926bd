"""The pictures of docs/pages.md: all there, none left over, and small enough to live with the sources."""

from __future__ import annotations

from pathlib import Path

from memory.pages.urls import _tenant
from scripts.screenshots import files, pictures, shown

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "images" / "pages"
LIMIT = 6_000_000
"""Bytes that all of them may take."""


def test_pictures__of_the_list__are_kept_and_no_others() -> None:
    assert {path.name for path in FOLDER.iterdir()} == files()


def test_pictures__each__is_a_webp_and_all_are_small() -> None:
    heads = [path.read_bytes()[:12] for path in FOLDER.iterdir()]
    assert all(head[:4] == b"RIFF" and head[8:] == b"WEBP" for head in heads)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LIMIT


def test_page__of_the_pictures__is_what_the_list_says() -> None:
    assert (DOCS / "pages.md").read_text(encoding="utf-8") == shown()


def test_pictures__every_area_of_a_tenant__has_one() -> None:
    areas = {str(each.pattern).split("/")[0] for each in _tenant}
    taken = {one.address.split("/")[0].split("?")[0] for one in pictures() if not one.address.startswith("/")}
    acts = {"decisions", "views"}  # what only changes something
    untaken = {"erasures"}  # new; its picture comes with the next ones
    assert areas - acts - untaken == taken

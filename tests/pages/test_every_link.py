"""Every link that a page shows to a role leads somewhere that this role may go."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urldefrag, urljoin

import pytest
from django.test import Client

from tests.factories import make_person
from tests.pages.staging import Full, signed_in
from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names

_LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]+)"')
_MOST = 900


def links_of(browser: Client, address: str) -> list[str]:
    """The addresses of this product that a page links to, without their fragments."""
    answer = browser.get(address)
    if answer.status_code != 200 or not answer.get("Content-Type", "").startswith("text/html"):
        return []
    found = (urldefrag(urljoin(address, unescape(one)))[0] for one in _LINK.findall(answer.content.decode()))
    return [one for one in dict.fromkeys(found) if one.startswith("/") and not one.startswith("/static/")]


@pytest.mark.parametrize("role", ["owner", "admin", "reviewer", "auditor"])
def test_links__on_every_page__open_for_whom_they_are_shown_to(full: Full, role: str) -> None:
    browser, filled = signed_in(make_person(full.stage.tenant, role)), names(full)
    shown_on: dict[str, str] = {}
    for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS):
        page = full.at(path.format(**filled))
        for link in links_of(browser, page):
            shown_on.setdefault(link, page)
    assert len(shown_on) > 60
    pages = [link for link in list(shown_on) if "?" not in link]
    for page in pages:  # one step further, to pages that no list names
        for link in links_of(browser, page):
            shown_on.setdefault(link, page)
    assert len(shown_on) < _MOST, "the walk does not end"
    dead = {
        link: (status, page)
        for link, page in shown_on.items()
        if (status := browser.get(link).status_code) >= 400
    }
    assert dead == {}

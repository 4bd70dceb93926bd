"""Whatever is put into an address, its parameters or its encoding: an answer, never a crash, and nothing half done."""

from __future__ import annotations

from urllib.parse import urlencode

import httpx
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import resolve

from memory.pages.urls import urlpatterns
from tests.browser import Web
from tests.pages.lived import Lived
from tests.pages.oddities import NUL, ODD, PLACES, mixed, share
from tests.pages.rendered_forms import parameters
from tests.pages.test_every_page import _routes, state
from tests.pages.test_hostile_forms import FRONT

# Of a page that reads as other pages do, at least so many mixtures.
LEAST = 3
CURSORS = {"at", "after", "above", "below"}

pytestmark = pytest.mark.usefixtures("as_deployed")


class Watched(QueryDict):
    """A query string that notes which of its names a page asks for."""

    asked: set[str] = set()

    def __getitem__(self, name: str) -> str | list[object]:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def getlist(self, key: str, default: object = None) -> list[str | list[object]]:
        self.asked.add(key)
        return super().getlist(key, default)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def reading(lived: Lived, browser: Client) -> dict[str, tuple[str, frozenset[str]]]:
    """By view: an address of it, and the names that it reads or writes into its own links."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.core.handlers.wsgi.QueryDict", Watched)
        for path in [*lived.paths(), *FRONT]:
            Watched.asked.clear()
            page = browser.get(path)
            text = page.content.decode() if page["Content-Type"].startswith("text/html") else ""
            view = resolve(path.split("?")[0]).view_name
            before = found[view][1] if view in found else frozenset()
            found[view] = (path.split("?")[0], before | Watched.asked | parameters(path, text))
    return found


def _mixtures(names: frozenset[str], at: int, players: int) -> list[dict[str, str | bytes]]:
    """For the page at this place among those that read the same names: in all, each name has each value."""
    values = [*ODD, *PLACES] if names & CURSORS else ODD
    whole = list(mixed(sorted(names), values))
    return [*share(whole, at, min(players, len(whole) // LEAST)), dict.fromkeys(names, NUL)]


def _alone(mixture: dict[str, str | bytes], at: int) -> dict[str, str | bytes]:
    """One name of the mixture: whichever is its turn."""
    name = sorted(mixture)[at % len(mixture)]
    return {name: mixture[name]}


def test_parameters__of_every_address__never_crash(
    browser: Client, reading: dict[str, tuple[str, frozenset[str]]]
) -> None:
    """Pages that read the same names read them by the same function: the values are dealt among them."""
    alike: dict[frozenset[str], list[str]] = {}
    for path, names in reading.values():
        alike.setdefault(names, []).append(path)
    browser.raise_request_exception = False
    crashed, tried = [], 0

    def ask(path: str, query: dict[str, str | bytes]) -> int:
        status = browser.get(path, QUERY_STRING=urlencode(query)).status_code
        if status >= 500:
            crashed.append(f"{path} {[(name, value[:40]) for name, value in query.items()]!r}")
        return status

    for path in alike.pop(frozenset(), []):  # reads nothing today
        ask(path, {"q": "9" * 5000, "at": "\u0663"})
    for names, paths in alike.items():
        for at, path in enumerate(paths):
            for turn, query in enumerate(_mixtures(names, at, len(paths))):
                refused = ask(path, query) >= 400
                tried += 1
                if refused and len(query) > 1:
                    # The first that was refused may have hidden the others: one by itself, another each time.
                    ask(path, _alone(query, turn))
    assert crashed == []
    assert tried > 400


def test_parameters__that_pages_read__are_found(reading: dict[str, tuple[str, frozenset[str]]]) -> None:
    """The control of the test above: names that no link of an empty list shows."""
    assert {"view", "q", "sort", "after"} <= reading["pages:promotions"][1]
    assert {"at", "band", "pinned"} <= reading["pages:memories"][1]
    assert {"above", "below"} <= reading["pages:audit"][1]
    assert "metric" in reading["pages:health-csv"][1]


@pytest.mark.parametrize("method", ["get", "post"])
def test_ids__of_every_address__that_are_none_are_not_found(
    lived: Lived, browser: Client, method: str
) -> None:
    browser.raise_request_exception = False
    odd = (
        "x",
        "mem_",
        "mem_" + "z" * 32,
        "prm_" + "0" * 33,
        "%00",
        "a%00b",
        "%ed%a0%80",
        "\u0663",
        "9" * 3000,
        "..%2f",
    )
    wrong = []
    for name, route in _routes(urlpatterns, ""):
        if "<str:" not in route:
            continue
        for value in odd:
            path = "/" + route.replace("<slug:slug>", lived.full.stage.tenant.slug).replace(
                "<int:number>", "1"
            )
            for one in ("item", "key", "decision", "token"):
                path = path.replace(f"<str:{one}>", value)
            status = getattr(browser, method)(path).status_code
            if status not in (400, 403, 404, 405):
                wrong.append(f"{name} {value[:20]!r}: {status}")
    assert wrong == []


@pytest.mark.parametrize("charset", ["utf-7", "utf-16", "raw_unicode_escape", "unicode_escape", "latin-1"])
def test_encodings__other_than_utf8__are_refused(lived: Lived, browser: Client, charset: str) -> None:
    """`raw_unicode_escape` would smuggle in lone surrogates, which nothing can write."""
    where = lived.full.at(f"promotions/{lived.ids['prm']}/decide/")
    before = state(lived.full)
    browser.raise_request_exception = False
    for path in (where, "/accounts/login/"):
        body = '--b\r\nContent-Disposition: form-data; name="reason"\r\n\r\n\\ud800\r\n--b--\r\n'
        answer = browser.generic("POST", path, body, f"multipart/form-data; boundary=b; charset={charset}")
        assert answer.status_code == 400, path
        plain = browser.generic(
            "POST", path, "reason=a", f"application/x-www-form-urlencoded; charset={charset}"
        )
        assert plain.status_code == 400, path
    asked = browser.generic(
        "GET", lived.full.at("memories/?q=%5cud800"), CONTENT_TYPE=f"text/plain; charset={charset}"
    )
    assert asked.status_code == 400
    assert state(lived.full) == before


@pytest.mark.parametrize("charset", ["zlib", "idna", "hex", "rot13"])
def test_encodings__that_are_none_of_text__are_refused_by_the_server(web: Web, charset: str) -> None:
    """Django fails on them before any of its code that could answer."""
    headers = {"Content-Type": f"text/plain; charset={charset}"}
    for path in ("/accounts/login/?q=a", "/api/v1/memories?q=a"):
        answer = httpx.get(web.url + path, headers=headers)
        assert 400 <= answer.status_code < 500, (path, answer.text[:100])

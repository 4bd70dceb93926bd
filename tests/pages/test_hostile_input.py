"""Whatever is put into whichever field, parameter or address: an answer, never a crash, and nothing half done."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest
from django.test import Client, override_settings
from django.urls import resolve

from memory.domain.ids import new_id
from memory.pages.urls import urlpatterns
from memory.services.invitations import invitation_create
from memory.services.tenant_settings import tenant_delete_ask
from tenants.models import Tenant
from tests.browser import Web
from tests.factories import Stage, make_person, make_tenant
from tests.pages.lived import Lived, live
from tests.pages.rendered_forms import Form, forms, parameters
from tests.pages.staging import fill, signed_in
from tests.pages.test_every_page import _routes, state

NUL = "before\x00after"
LONG = "x" * 20_000
NOT_UTF8 = b"\xed\xa0\x80\xff"  # a lone surrogate, and no letter at all
ODD = (
    "", "-1", "9" * 5000, "99999999999999999999", "\u0663", "\u00b2", "1e999", "nan", "2030-13-45", "99999-01-01",
    "9999-12-31", "0001-01-01", "mem_" + "z" * 32, "prm_0", "[]", "{}", "' OR 1=1 --", "{{7*7}}", "\u202e\u200b", LONG,
    NOT_UTF8,
)  # fmt: skip
CHOSEN = (
    "",
    "9" * 5000,
    "99999999999999999999",
    "nan",
    "9999-12-31",
    "\u0663",
    NOT_UTF8,
)  # for what is not typed
TEXTS = ("9999-12-31", "\u202e{{7*7}}", LONG, NOT_UTF8)
# The form of a draft has a field for each setting of the policy; they are read by one function.
FEW = ("9" * 5000, "nan")
MANY = 40
FRONT = (
    "/me/",
    "/help/",
    "/tenants/",
    "/ops/tenants/",
    "/demo/",
    "/accounts/2fa/",
    "/accounts/password/change/",
)
SIGNED_OUT = ("/", "/accounts/login/", "/accounts/password/reset/")
# Their forms stand on pages that only a moment has: a code in a mail, a second factor that was just begun.
MOMENTARY: set[str] = set()


@pytest.fixture(scope="module")
def lived(database: None) -> Lived:
    """One stage for the file: its tests change nothing, which is what they show."""
    stage = make_tenant()
    stage.owner.user.is_operator = True
    stage.owner.user.save()
    return live(fill(stage))


@pytest.fixture
def browser(lived: Lived) -> Client:
    return signed_in(lived.full.stage.owner)


@pytest.fixture(autouse=True)
def _as_it_is_deployed() -> Iterator[None]:
    with override_settings(MEMGOV_DEMO_SANDBOXES=1, DEBUG_PROPAGATE_EXCEPTIONS=False):
        yield


def found_forms(browser: Client, paths: list[str]) -> list[Form]:
    """Every form of the pages, each once."""
    found: dict[tuple[str, tuple[str, ...]], Form] = {}
    for path in paths:
        answer = browser.get(path, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            for form in forms(path, answer.content.decode()):
                if not form.path.endswith("/logout/"):
                    found.setdefault((_name(form), tuple(form.names)), form)
    return list(found.values())


def _name(form: Form) -> str:
    return str(resolve(form.path).view_name)


def send(browser: Client, form: Form, name: str, value: str | bytes) -> int:
    """Send the form with one field changed; the status."""
    given = [(one, value if one == name else text) for one, text in form.filled()]
    if name not in dict(given):
        given.append((name, value))
    return browser.post(
        form.action, urlencode(given), content_type="application/x-www-form-urlencoded"
    ).status_code


def test_forms__of_all_pages__are_found_for_every_address_that_takes_one(
    lived: Lived, browser: Client
) -> None:
    """Whoever adds a form that the tests below do not meet is told here."""
    met = {_name(form).removeprefix("pages:") for form in found_forms(browser, [*lived.paths(), *FRONT])}
    routes = {name: route for name, route in _routes(urlpatterns, "") if route.startswith("t/")}
    unknown = {
        "item": f"mem_{new_id().hex}",
        "key": f"key_{new_id().hex}",
        "decision": new_id().hex,
        "number": "1",
    }
    auditor, taking = signed_in(make_person(lived.full.stage.tenant, "auditor")), set()
    for name, route in routes.items():
        path = "/" + route.replace("<slug:slug>", lived.full.stage.tenant.slug)
        for kind in ("str", "int"):
            for one, value in unknown.items():
                path = path.replace(f"<{kind}:{one}>", value)
        if auditor.post(path).status_code != 405:
            taking.add(name)
    assert len(taking) > 40
    assert taking - met - {"tenant-keep"} - MOMENTARY == set()


def test_nul__in_every_field_of_every_form__is_refused_and_changes_nothing(
    lived: Lived, browser: Client
) -> None:
    before, wrong, tried = state(lived.full), [], 0
    for form in found_forms(browser, [*lived.paths(), *FRONT]):
        for name in form.names or ["anything"]:
            status = send(browser, form, name, NUL)
            tried += 1
            if status not in (400, 403, 422):
                wrong.append(f"{_name(form)} {name}: {status}")
    assert wrong == []
    assert tried > 200
    assert state(lived.full) == before


def test_reasons__longer_than_the_audit_keeps__are_refused_and_change_nothing(
    lived: Lived, browser: Client
) -> None:
    before, wrong, tried = state(lived.full), [], 0
    for form in found_forms(browser, lived.paths()):
        for name in {"reason", "note", "text"} & set(form.names):
            for value in (LONG, "y" * 2001):
                status = send(browser, form, name, value)
                tried += 1
                # A row of a list has no page of its own to come back to: the list says what was refused.
                asked_first = _name(form) == "pages:quarantine-decide" and status == 200
                if status not in (409, 422) and not asked_first and not (status == 303 and name == "note"):
                    wrong.append(f"{_name(form)} {name}: {status}")
    assert "\n".join(wrong) == ""
    assert tried > 20
    assert state(lived.full) == before


def test_what_was_typed__stays_in_the_page_that_refuses_it(lived: Lived, browser: Client) -> None:
    where = lived.full.at(f"promotions/{lived.ids['prm']}/decide/")
    typed = {"action": "reject", "version": "1", "reason": "The first half\x00 and the <b>second</b>"}
    page = browser.post(where, typed)
    assert page.status_code == 400 and page["Cache-Control"] == "no-store"
    assert (
        "and the &lt;b&gt;second&lt;/b&gt;" in page.content.decode()
        and "Nothing was saved" in page.content.decode()
    )
    long = browser.post(where, {**typed, "reason": "z" * 501})
    assert long.status_code == 422 and "z" * 501 in long.content.decode()
    secret = Client().post("/accounts/login/", {"login": "a\x00b", "password": "my pass phrase"})
    assert secret.status_code == 400 and b"my pass phrase" not in secret.content
    change = {"oldpassword": "my pass phrase", "password1": "new\x00", "password2": "another phrase"}
    changed = browser.post("/accounts/password/change/", change)
    assert changed.status_code == 400
    assert b"my pass phrase" not in changed.content and b"another phrase" not in changed.content


def test_oddities__in_every_field_of_every_form__never_crash(
    database: None, caplog: pytest.LogCaptureFixture
) -> None:
    """On a stage of its own: some are taken, for they are text."""
    caplog.set_level(logging.CRITICAL)
    lived = live(fill(make_tenant()))
    browser = signed_in(lived.full.stage.owner)
    browser.raise_request_exception = False
    crashed = []
    for form in found_forms(browser, [*lived.paths(), "/me/"]):
        for name in form.names:
            free = any(one.free for one in form.fields if one.name == name)
            for value in FEW if len(form.names) > MANY else TEXTS if free else CHOSEN:
                if send(browser, form, name, value) >= 500:
                    crashed.append(f"{_name(form)} {name}={value[:40]!r}")
    assert crashed == []


def test_parameters__of_every_address__never_crash(lived: Lived, browser: Client) -> None:
    browser.raise_request_exception = False
    crashed, tried = [], 0
    for path in [*lived.paths(), *FRONT]:
        page = browser.get(path)
        text = page.content.decode() if page["Content-Type"].startswith("text/html") else ""
        named = parameters(path, text) | {"q", "at", "after"}
        given = [[(name, "9" * 5000)] for name in named]
        for value in (NUL, *ODD):
            given += [[(name, value) for name in named], [("at", value)]]
        for query in given:
            answer = browser.get(path.split("?")[0], QUERY_STRING=urlencode(query))
            tried += 1
            if answer.status_code >= 500:
                crashed.append(f"{path} {[(name, value[:40]) for name, value in query]!r}")
    assert crashed == [] and tried > 2000


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


def test_front__of_people_without_an_account__never_crashes(stage: Stage) -> None:
    link = invitation_create(stage.owner.principal, f"{stage.tenant.slug}-new@example.test", "auditor").link
    nobody = Client(raise_request_exception=False)
    paths = [*SIGNED_OUT, "/invite/" + link.split("/invite/")[1]]
    crashed = []
    for form in found_forms(nobody, paths):
        for name in form.names:
            for value in (NUL, *ODD):
                status = send(nobody, form, name, value)
                if status >= 500 and _name(form) != "pages:demo":  # every demo taken is a 503
                    crashed.append(f"{_name(form)} {name}={value[:40]!r}: {status}")
    assert crashed == []


def test_tenant__that_is_about_to_go__can_be_kept_by_its_form_alone(stage: Stage) -> None:
    owner = signed_in(stage.owner)
    tenant_delete_ask(stage.owner.principal, stage.tenant.name)
    page = f"/t/{stage.tenant.slug}/settings/"
    form = next(one for one in found_forms(owner, [page]) if _name(one) == "pages:tenant-keep")
    assert send(owner, form, "anything", NUL) == 400
    assert Tenant.objects.get(id=stage.tenant.id).deletes_at is not None

"""Whatever is put into whichever field of whichever form: an answer, never a crash, and nothing half done."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.test import Client

from memory.domain.ids import new_id
from memory.pages.urls import urlpatterns
from memory.services.tenant_settings import tenant_delete_ask
from tenants.models import Tenant
from tests.factories import Stage, make_person
from tests.pages.lived import Lived
from tests.pages.oddities import LONG, NUL, found_forms, name_of, send
from tests.pages.rendered_forms import Form
from tests.pages.staging import signed_in
from tests.pages.test_every_page import _routes, state

FRONT = (
    "/me/",
    "/help/",
    "/tenants/",
    "/ops/tenants/",
    "/demo/",
    "/accounts/2fa/",
    "/accounts/password/change/",
)
# Their forms stand on pages that only a moment has: a code in a mail, a second factor that was just begun, the message
# after a decision.
MOMENTARY = {"promotions-bulk-undo", "promotion-take-back"}
# These say first where their file goes, so that the door before all views leaves the text to their forms.
OF_FILES = {"pages:imports"}

pytestmark = pytest.mark.usefixtures("as_deployed")


@pytest.fixture(scope="module")
def found(lived: Lived, browser: Client) -> list[Form]:
    """Every form of every page; the pages are drawn once for the file."""
    return found_forms(browser, [*lived.paths(), *FRONT])


def test_forms__of_all_pages__are_found_for_every_address_that_takes_one(
    lived: Lived, found: list[Form]
) -> None:
    """Whoever adds a form that the tests below do not meet is told here."""
    met = {name_of(form).removeprefix("pages:") for form in found}
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


def test_nul__in_the_fields_of_every_form__is_refused_and_changes_nothing(
    lived: Lived, browser: Client, found: list[Form]
) -> None:
    """One door stands before all views: it is shown for each form, with all its fields and with one of them."""
    before, wrong, tried = state(lived.full), [], 0
    for at, form in enumerate(found):
        names = form.names or ["anything"]
        single = names if name_of(form) in OF_FILES else [names[at % len(names)]]
        for given in [dict.fromkeys(names, NUL), *({name: NUL} for name in single)]:
            status = send(browser, form, dict(given))
            tried += 1
            if status not in (400, 403, 422):
                wrong.append(f"{name_of(form)} {list(given)[:5]}: {status}")
    assert wrong == []
    assert tried > 150
    assert state(lived.full) == before


def test_reasons__longer_than_the_audit_keeps__are_refused_and_change_nothing(
    lived: Lived, browser: Client, found: list[Form]
) -> None:
    before, wrong, tried = state(lived.full), [], 0
    for form in (one for one in found if one.path.startswith(lived.full.base)):
        for name in {"reason", "note", "text"} & set(form.names):
            for value in (LONG, "y" * 2001):
                status = send(browser, form, {name: value})
                tried += 1
                # A row of a list has no page of its own to come back to: the list says what was refused.
                asked_first = name_of(form) == "pages:quarantine-decide" and status == 200
                if status not in (409, 422) and not asked_first and not (status == 303 and name == "note"):
                    wrong.append(f"{name_of(form)} {name}: {status}")
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


def test_form__that_says_it_is_packed__is_415_and_nothing_is_saved(lived: Lived, browser: Client) -> None:
    where = lived.full.at("memories/new/")
    before = state(lived.full)
    told = {"Content-Encoding": "gzip"}
    page = browser.post(where, {"content": "The plotter of hall 3 wants paper."}, headers=told)
    assert page.status_code == 415 and page["Accept-Encoding"] == "identity"
    assert "Nothing was saved" in page.content.decode() and page["Cache-Control"] == "no-store"
    upload = browser.post(lived.full.at("imports/"), {"file": BytesIO(b"x")}, headers=told)
    assert upload.status_code == 415
    assert state(lived.full) == before
    assert browser.get(where, headers={"Content-Encoding": "identity"}).status_code == 200


def test_tenant__that_is_about_to_go__can_be_kept_by_its_form_alone(stage: Stage) -> None:
    owner = signed_in(stage.owner)
    tenant_delete_ask(stage.owner.principal, stage.tenant.name)
    page = f"/t/{stage.tenant.slug}/settings/"
    form = next(one for one in found_forms(owner, [page]) if name_of(one) == "pages:tenant-keep")
    assert send(owner, form, {"anything": NUL}) == 400
    assert Tenant.objects.get(id=stage.tenant.id).deletes_at is not None

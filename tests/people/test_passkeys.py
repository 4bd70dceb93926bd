"""Passkeys: made, used to sign in without a password, as a second factor, and removed, with Chromium's own
authenticator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from tenants.models import User
from tests.browser import OpenAs, Tab
from tests.factories import PASSWORD, Person, Stage
from tests.pages.test_browser_states import faults

AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def tab(open_as: OpenAs) -> Iterator[Tab]:
    """A browser with an authenticator, at the name that a browser lets a key belong to: an address is none."""
    tab = open_as(None)
    tab.base = tab.base.replace("127.0.0.1", "localhost")
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    yield tab


def sign_in(tab: Tab, person: Person) -> Page:
    """With the password."""
    page = tab.go("/accounts/login/")
    page.locator("[name=login]").fill(person.user.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    return page


def sign_out(tab: Tab) -> None:
    tab.page.context.clear_cookies(name="sessionid")


def go_confirmed(tab: Tab, path: str) -> Page:
    """Open a page of the account that asks for the password once more."""
    page = tab.go(path)
    if "/reauthenticate/" in page.url:
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("main form button").first.click()
        page.wait_for_url(f"**{path}")
    return page


def add_key(tab: Tab, name: str, *, passwordless: bool) -> None:
    """Add a key on the account's page."""
    page = go_confirmed(tab, "/accounts/2fa/webauthn/add/")
    page.locator("[name=name]").fill(name)
    page.locator("[name=passwordless]").set_checked(passwordless)
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(lambda address: "/add/" not in address)


def keys_of(person: Person) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user_id=person.user.id, type="webauthn"))


def test_passkey__added__signs_in_without_a_password_until_it_is_removed(stage: Stage, tab: Tab) -> None:
    person = stage.reviewer
    sign_in(tab, person).wait_for_url(f"**/t/{stage.tenant.slug}/")
    add_key(tab, "laptop", passwordless=True)
    assert [key.wrap().name for key in keys_of(person)] == ["laptop"]
    assert "Passkeys and security keys on" in " ".join(tab.go("/me/").locator("main").inner_text().split())

    sign_out(tab)
    page = tab.go("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(f"**/t/{stage.tenant.slug}/")

    key = keys_of(person)[0]
    page = go_confirmed(tab, f"/accounts/2fa/webauthn/keys/{key.pk}/remove/")
    page.get_by_role("button", name="Remove").click()
    page.wait_for_url(lambda address: "/remove/" not in address)
    assert keys_of(person) == []


def test_security_key__as_second_factor__is_asked_for_after_the_password(stage: Stage, tab: Tab) -> None:
    person = stage.reviewer
    sign_in(tab, person).wait_for_url(f"**/t/{stage.tenant.slug}/")
    add_key(tab, "token", passwordless=False)
    sign_out(tab)
    page = sign_in(tab, person)
    expect(page).to_have_url(f"{tab.base}/accounts/2fa/authenticate/")
    page.get_by_role("button", name="Use a security key").click()
    page.wait_for_url(f"**/t/{stage.tenant.slug}/")


def test_passkey__of_nobody_here__signs_nobody_in(stage: Stage, tab: Tab) -> None:
    """Its account is gone: the page says no and stays."""
    person = stage.reviewer
    sign_in(tab, person).wait_for_url(f"**/t/{stage.tenant.slug}/")
    add_key(tab, "laptop", passwordless=True)
    Authenticator.objects.filter(user_id=person.user.id).delete()
    sign_out(tab)
    page = tab.go("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_load_state()
    expect(page.locator("main")).to_contain_text("key")
    assert "/accounts/" in page.url
    assert User.objects.filter(id=person.user.id).exists()


@pytest.mark.parametrize("width", [1440, 390])
def test_pages__of_the_second_factor__have_no_violation(stage: Stage, tab: Tab, width: int) -> None:
    """In light and dark: of the account without a key and with one, and of the sign-in that asks for it."""
    person, found = stage.reviewer, []
    tab.page.set_viewport_size({"width": width, "height": 844})
    found += faults(tab.go("/accounts/login/"), "sign-in")
    sign_in(tab, person).wait_for_url(f"**/t/{stage.tenant.slug}/")
    for path in ("webauthn/", "webauthn/add/", "totp/activate/"):
        found += faults(go_confirmed(tab, f"/accounts/2fa/{path}"), f"without a key {path}")
    add_key(tab, "token", passwordless=False)
    found += faults(tab.page, "after the first key")
    key = keys_of(person)[0]
    for path in ("", "webauthn/", f"webauthn/keys/{key.pk}/edit/", f"webauthn/keys/{key.pk}/remove/",
                 "recovery-codes/"):  # fmt: skip
        found += faults(go_confirmed(tab, f"/accounts/2fa/{path}"), path)
    found += faults(tab.go("/accounts/2fa/reauthenticate/"), "asked for the key once more")
    found += faults(tab.go("/accounts/reauthenticate/"), "asked for the password once more")
    sign_out(tab)
    page = sign_in(tab, person)
    expect(page).to_have_url(f"{tab.base}/accounts/2fa/authenticate/")
    found += faults(page, "second factor")
    assert found == []

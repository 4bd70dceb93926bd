"""A person's own account: profile, zone, shortcuts, sessions, two-factor sign-in."""

from __future__ import annotations

import re
import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client

from memory.models import AuditEvent
from tenants.models import Membership, User
from tests.factories import PASSWORD, Person, Stage, join, make_person, make_tenant
from tests.pages.staging import fill, mem, signed_in

SAVED = {"name": "Other Name", "time_zone": "Asia/Kolkata", "shortcuts": "on"}


def typed_in(person: Person, **meta: str) -> Client:
    """A browser that signed in by the form, as people do."""
    browser = Client(**meta)
    answer = browser.post("/accounts/login/", {"login": person.user.email, "password": PASSWORD})
    assert answer.status_code == 302, answer.content[:500]
    return browser


def is_in(browser: Client) -> bool:
    return browser.get("/me/").status_code == 200


def test_profile__saved__is_shown_in_every_tenant_with_an_event(stage: Stage, reviewer: Client) -> None:
    second = make_tenant()
    join(second.tenant, stage.reviewer.user, "auditor")
    assert reviewer.post("/me/", SAVED).status_code == 303
    user = User.objects.get(id=stage.reviewer.user.id)
    assert (user.name, user.time_zone, user.shortcuts) == ("Other Name", "Asia/Kolkata", True)
    for one in (stage, second):
        with one.context():
            assert Membership.objects.get(user_id=user.id).name == "Other Name"
            assert (
                AuditEvent.objects.filter(action="member.renamed", actor_id=f"usr_{user.id.hex}").count() == 1
            )


@pytest.mark.parametrize("sent", [{"name": " "}, {"name": "x" * 201}, {"time_zone": "Nowhere/At all"}])
def test_profile__that_is_wrong__changes_nothing(
    stage: Stage, reviewer: Client, sent: dict[str, str]
) -> None:
    assert reviewer.post("/me/", SAVED | sent).status_code == 422
    assert User.objects.get(id=stage.reviewer.user.id).name == "Reviewer"


def test_times__are_in_the_persons_zone_else_in_the_tenants(stage: Stage, reviewer: Client) -> None:
    full = fill(stage)
    path = full.at(f"memories/{mem(full.memory)}/")

    def zones() -> set[str]:
        return set(
            re.findall(r"<time [^>]*data-local>[^<]* (\w+)</time>", reviewer.get(path).content.decode())
        )

    assert zones() == {"UTC"}
    type(stage.tenant).objects.filter(id=stage.tenant.id).update(time_zone="Africa/Nairobi")
    assert zones() == {"EAT"}
    reviewer.post("/me/", SAVED)
    page = reviewer.get(path).content.decode()
    assert zones() == {"IST"} and 'data-zone="Asia/Kolkata"' in page
    assert re.search(r'title="[^"]*UTC"', page), "the instant stays in the tooltip"


def test_zone__of_one_request__does_not_leak_into_the_next(stage: Stage, reviewer: Client) -> None:
    from django.utils import timezone

    reviewer.post("/me/", SAVED)
    reviewer.get(f"/t/{stage.tenant.slug}/")
    assert timezone.get_current_timezone_name() == "UTC"


def test_shortcuts__off__stand_in_the_page(stage: Stage, reviewer: Client) -> None:
    start = f"/t/{stage.tenant.slug}/"
    assert 'data-keys="off"' not in reviewer.get(start).content.decode()
    reviewer.post("/me/", {"name": "Reviewer", "time_zone": ""})
    page = reviewer.get(start).content.decode()
    assert 'data-keys="off"' in page and "Switched off in your account" in page


def test_sessions__are_listed_and_one_can_be_ended(stage: Stage) -> None:
    here = typed_in(stage.reviewer, HTTP_USER_AGENT="Browser here")
    there = typed_in(stage.reviewer, HTTP_USER_AGENT="<b>Browser</b> there", REMOTE_ADDR="192.0.2.9")
    stranger = typed_in(make_person(stage.tenant, "auditor"), HTTP_USER_AGENT="Stranger")
    page = here.get("/me/").content.decode()
    assert "Browser here" in page and "&lt;b&gt;Browser&lt;/b&gt; there" in page and "192.0.2.9" in page
    assert "Stranger" not in page
    number = re.search(r'name="session" value="(\d+)"', page).group(1)  # type: ignore[union-attr]
    stranger.post("/me/sessions/end/", {"session": number})
    assert is_in(there), "nobody ends the session of another"
    assert here.post("/me/sessions/end/", {"session": number}).status_code == 303
    assert not is_in(there) and is_in(here)
    for odd in ("", "x", "9" * 40, "-1", number):
        assert here.post("/me/sessions/end/", {"session": odd}).status_code == 303


def test_sessions__signed_out_elsewhere__ends_all_but_this_one(stage: Stage) -> None:
    here, there, unlisted = typed_in(stage.reviewer), typed_in(stage.reviewer), signed_in(stage.reviewer)
    assert is_in(there) and is_in(unlisted)
    assert here.post("/me/sessions/end/", {"session": "others"}).status_code == 303
    assert is_in(here) and not is_in(there) and not is_in(unlisted)
    assert is_in(typed_in(stage.reviewer)), "and new ones are good"


def test_account__signed_out__leads_to_the_sign_in(database: None) -> None:
    assert Client().get("/me/").status_code == 302
    assert Client().post("/me/sessions/end/", {"session": "others"}).status_code == 302


def code_of(secret: str) -> str:
    """What an authenticator app shows now (RFC 6238)."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


def test_two_factor__switched_on__is_asked_at_the_next_sign_in(stage: Stage) -> None:
    browser = typed_in(stage.reviewer)
    assert "Switch it on" in browser.get("/me/").content.decode()
    asked = browser.get("/accounts/2fa/totp/activate/")
    assert asked["Location"].startswith("/accounts/reauthenticate/"), "a borrowed browser changes nothing"
    assert browser.get(asked["Location"]).status_code == 200
    assert browser.post(asked["Location"], {"password": PASSWORD}).status_code == 302
    page = browser.get("/accounts/2fa/totp/activate/")
    secret = page.context["form"].secret
    assert browser.post("/accounts/2fa/totp/activate/", {"code": "000000"}).status_code == 200
    assert browser.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)}).status_code == 302
    codes = browser.get("/accounts/2fa/recovery-codes/").content.decode()
    assert "Change" in browser.get("/me/").content.decode()
    fresh = Client()
    answer = fresh.post("/accounts/login/", {"login": stage.reviewer.user.email, "password": PASSWORD})
    assert answer["Location"] == "/accounts/2fa/authenticate/" and not is_in(fresh)
    assert fresh.get("/accounts/2fa/authenticate/").status_code == 200
    assert fresh.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200 and not is_in(
        fresh
    )
    recovery = re.findall(r"\b[0-9a-f]{8}\b", codes)
    assert len(recovery) >= 10
    assert fresh.post("/accounts/2fa/authenticate/", {"code": recovery[0]}).status_code == 302 and is_in(
        fresh
    )
    members = signed_in(stage.owner).get(f"/t/{stage.tenant.slug}/members/").content.decode()
    assert 'data-label="Two-factor">on<' in members

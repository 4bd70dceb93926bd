"""Invitations: by mail, once, for a time, for one address."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connections
from django.test import Client

from memgov import clock
from memory.models import AuditEvent
from memory.services.errors import Conflict
from memory.services.invitations import invitation_sign_up
from tenants.models import Invitation, Membership, User
from tests.factories import PASSWORD, Stage, make_person, make_tenant
from tests.mailbox import Mailbox, mail_server
from tests.pages.staging import signed_in

NEW = "newcomer@example.test"
SIGN_UP = {"name": "New Comer", "password1": PASSWORD, "password2": PASSWORD}


def at(stage: Stage, what: str = "") -> str:
    return f"/t/{stage.tenant.slug}/members/{what}"


def address(stage: Stage) -> str:
    """Nobody else's: people outlive their tests."""
    return f"{stage.tenant.slug}@example.test"


def path_in(text: str) -> str:
    """The link in a mail or page, as a path."""
    return re.search(r"/invite/[A-Za-z0-9_-]+/", text).group()  # type: ignore[union-attr]


def invited(stage: Stage, owner: Client, box: Mailbox, role: str = "reviewer", email: str = "") -> str:
    """Invite by the page; the path of the link that arrived."""
    answer = owner.post(at(stage), {"email": email or address(stage), "role": role})
    assert answer.status_code == 303, answer.content[:300]
    return path_in(box.last_text())


def rows(stage: Stage) -> list[Invitation]:
    with stage.context():
        return list(Invitation.objects.order_by("id"))


def test_invite__by_mail__arrives_and_opens_an_account_with_the_role(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box, "auditor")
    message = box.messages[0]
    assert message["To"] == address(stage) and stage.tenant.name in message["Subject"]
    visitor = Client()
    assert visitor.get(path).status_code == 200
    answer = visitor.post(path, SIGN_UP)
    assert answer.status_code == 302 and answer["Location"] == f"/t/{stage.tenant.slug}/"
    assert visitor.get(at(stage)).status_code == 200, "signed in already"
    assert visitor.post(at(stage), {"email": "x@example.test", "role": "auditor"}).status_code == 403
    again = Client()
    assert again.login(email=address(stage), password=PASSWORD)
    with stage.context():
        member = Membership.objects.get(email=address(stage))
        actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert (member.role, member.name) == ("auditor", "New Comer")
    assert actions[-4:-1] == ["invitation.created", "invitation.accepted", "member.added"]


def test_invite__secret__is_in_the_mail_and_nowhere_else(
    stage: Stage, owner: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with mail_server() as box:
        path = invited(stage, owner, box)
    secret = path.rstrip("/").rsplit("/", 1)[1][17:]
    assert len(secret) == 43
    assert secret not in owner.get(at(stage)).content.decode() and secret not in caplog.text
    with stage.context():
        kept = json.dumps(list(AuditEvent.objects.values("reason", "before", "after")))
        assert secret not in kept and secret.encode() not in bytes(Invitation.objects.get().secret_hash)


@pytest.mark.parametrize("refuse", [True, None], ids=["the server refuses", "no server"])
def test_invite__without_mail__shows_the_link_once(stage: Stage, owner: Client, refuse: bool | None) -> None:
    from django.test import override_settings

    if refuse:
        with mail_server(refuse=True):
            answer = owner.post(at(stage), {"email": address(stage), "role": "reviewer"})
    else:
        with override_settings(EMAIL_BACKEND="django.core.mail.backends.console.EmailBackend"):
            answer = owner.post(at(stage), {"email": address(stage), "role": "reviewer"})
    text = answer.content.decode()
    assert answer.status_code == 200 and "no mail went out" in text
    path = path_in(text)
    assert path not in owner.get(at(stage)).content.decode()
    assert Client().post(path, SIGN_UP).status_code == 302
    from allauth.account.models import EmailAddress

    assert EmailAddress.objects.get(email=address(stage)).verified is False, "an admin saw the link"


def test_link__opened__uses_nothing_up_and_works_once(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box)
    for _ in range(3):
        assert Client().get(path).status_code == 200
    assert Client().post(path, SIGN_UP).status_code == 302
    used = Client().post(path, SIGN_UP | {"name": "Second"})
    assert used.status_code == 410 and "was used" in used.content.decode()
    with stage.context():
        assert Membership.objects.filter(email=address(stage)).count() == 1


def test_link__after_seven_days__has_ended_until_it_is_sent_again(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box)
        with time_machine.travel(clock.now() + timedelta(days=7, minutes=1), tick=False):
            ended = Client().post(path, SIGN_UP)
            assert ended.status_code == 410 and "has ended" in ended.content.decode()
            shown = f"invitations/inv_{rows(stage)[0].id.hex}/resend/"
            late = signed_in(stage.owner)
            assert late.post(at(stage, shown)).status_code == 303
            fresh = path_in(box.last_text())
            assert fresh != path and Client().get(path).status_code == 404
            assert Client().post(fresh, SIGN_UP).status_code == 302
    assert not User.objects.filter(name="Second").exists()


def test_link__taken_back__says_so_and_lets_nobody_in(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box)
        assert owner.post(at(stage, f"invitations/inv_{rows(stage)[0].id.hex}/revoke/")).status_code == 303
        answer = Client().post(path, SIGN_UP)
        assert answer.status_code == 410 and "taken back" in answer.content.decode()
        assert not User.objects.filter(email=address(stage)).exists()
        again = owner.post(at(stage, f"invitations/inv_{rows(stage)[0].id.hex}/resend/"))
        assert again.status_code == 409 and len(box.messages) == 1
        invited(stage, owner, box)  # the address is free for a new one


@pytest.mark.parametrize("spoil", ["secret", "prefix", "handle", "shape"])
def test_link__that_is_wrong__is_not_found(stage: Stage, owner: Client, spoil: str) -> None:
    with mail_server() as box:
        token = invited(stage, owner, box).split("/")[2]
    wrong = {
        "secret": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "prefix": token[:8] + "zzzzzzzz" + token[16:],
        "handle": "zzzzzzzz" + token[8:],
        "shape": "..%2f..",
    }[spoil]
    assert Client().get(f"/invite/{wrong}/").status_code == 404
    assert Client().get(f"/invite/{token}/").status_code == 200


def test_link__of_a_suspended_tenant__is_not_found(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box)
    type(stage.tenant).objects.filter(id=stage.tenant.id).update(status="suspended")
    assert Client().get(path).status_code == 404


def test_link__for_someone_with_an_account__is_accepted_by_them_alone(stage: Stage, owner: Client) -> None:
    known = make_person(make_tenant().tenant, "reviewer")
    other = signed_in(make_person(make_tenant().tenant, "reviewer"))
    with mail_server() as box:
        path = invited(stage, owner, box, email=known.user.email)
    assert "Sign in, and the invitation waits" in Client().get(path).content.decode()
    assert Client().post(path, SIGN_UP).status_code == 409, "no second account, and no new password"
    refused = other.post(path)
    assert refused.status_code == 409 and "you are signed in as" in refused.content.decode().lower()
    mine = signed_in(known)
    assert mine.post(path).status_code == 303
    assert mine.get(f"/t/{stage.tenant.slug}/").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"name": ""},
        {"password1": "short", "password2": "short"},
        {"password2": "another long enough phrase"},
        {"password1": "password123", "password2": "password123"},
    ],
    ids=["no name", "short", "different", "common"],
)
def test_sign_up__with_something_wrong__makes_no_account(
    stage: Stage, owner: Client, sent: dict[str, str]
) -> None:
    with mail_server() as box:
        path = invited(stage, owner, box)
    answer = Client().post(path, SIGN_UP | sent)
    assert answer.status_code == 422 and b'role="alert"' in answer.content
    assert not User.objects.filter(email=address(stage)).exists()
    assert Client().post(path, SIGN_UP).status_code == 302, "the link is still good"


def test_sign_up__twice_at_the_same_time__makes_one_account(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        token = invited(stage, owner, box).split("/")[2]
    ends: list[str] = []

    def sign_up() -> None:
        try:
            invitation_sign_up(token, "New Comer", PASSWORD)
            ends.append("made")
        except Conflict as error:
            ends.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=sign_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["invitation_ended"] * 3 + ["made"]
    assert User.objects.filter(email=address(stage)).count() == 1


def test_invite__of_a_member_or_twice__is_refused(stage: Stage, owner: Client) -> None:
    with mail_server() as box:
        invited(stage, owner, box)
        for email in (address(stage).upper(), stage.reviewer.user.email, "no address"):
            answer = owner.post(at(stage), {"email": email, "role": "reviewer"})
            assert answer.status_code == 422 and b'role="alert"' in answer.content, email
        assert len(box.messages) == 1 and len(rows(stage)) == 1


def test_invite__of_an_owner_by_an_admin__is_refused_and_recorded(stage: Stage) -> None:
    admin = make_person(stage.tenant, "admin")
    browser = signed_in(admin)
    with mail_server() as box:
        assert browser.post(at(stage), {"email": address(stage), "role": "owner"}).status_code == 422
        from memory.services.errors import Denied
        from memory.services.invitations import invitation_create

        with pytest.raises(Denied):
            invitation_create(admin.principal, address(stage), "owner")
        assert box.messages == [] and rows(stage) == []
        assert browser.post(at(stage), {"email": address(stage), "role": "admin"}).status_code == 303
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied", actor_id=admin.principal.id).count() == 1


def test_invite__hostile_names__cannot_write_headers_or_markup(stage: Stage) -> None:
    person = make_person(stage.tenant, "owner", name="<b>Eve</b>")
    type(stage.tenant).objects.filter(id=stage.tenant.id).update(name="Line\r\nBcc: all@example.test <i>")
    with mail_server() as box:
        path = invited(stage, signed_in(person), box)
    assert box.messages[0]["Bcc"] is None
    page = Client().get(path).content.decode()
    assert "<i>" not in page and "<b>Eve" not in page and "&lt;b&gt;Eve" in page


def test_invite__more_than_an_hour_may_send__waits(stage: Stage, owner: Client) -> None:
    from memory.services import invitations

    with stage.context():
        for number in range(invitations.MOST_MAILS_AN_HOUR):
            Invitation(
                email=f"n{number}@example.test", role="auditor", secret_hash=bytes(32),
                expires_at=clock.now() + timedelta(days=7),
            ).save()  # fmt: skip
    with mail_server() as box:
        answer = owner.post(at(stage), {"email": address(stage), "role": "reviewer"})
        assert answer.status_code == 422 and "in an hour" in answer.content.decode() and box.messages == []
        with time_machine.travel(clock.now() + timedelta(minutes=61), tick=False):
            later = signed_in(stage.owner)
            assert later.post(at(stage), {"email": address(stage), "role": "reviewer"}).status_code == 303

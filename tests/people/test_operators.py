"""Operators: they see sizes, make and close tenants, and read no memory."""

from __future__ import annotations

import re
import secrets

import pytest
from django.core.management import call_command
from django.test import Client

from memory.models import AuditEvent
from memory.pages.urls import urlpatterns
from memory.services.errors import Denied
from memory.services.operators import operator_tenant_create, operator_tenant_suspend
from tenants.authentication import KeyRefused, authenticate_key
from tenants.models import Invitation, Tenant, User
from tests.factories import PASSWORD, Stage, make_tenant
from tests.mailbox import mail_server
from tests.pages.staging import fill, signed_in
from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, _routes, names

AT = "/ops/tenants/"


@pytest.fixture
def operator(database: None) -> User:
    return User.objects.create_user(
        f"ops-{secrets.token_hex(6)}@example.test", name="Operator", is_operator=True
    )


@pytest.fixture
def ops(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


def test_list__shows_sizes_and_nothing_from_inside(ops: Client) -> None:
    full = fill(make_tenant(name=f"Mill {secrets.token_hex(4)}"))
    page = ops.get(AT, {"q": full.stage.tenant.slug}).content.decode()
    with full.stage.context():
        memories = type(full.memory).objects.all()
        live = memories.filter(status__in=["live", "contested"]).count()
        assert re.search(rf'data-label="Memories">{live}<br><span class="hint">of {memories.count()}<', page)
        inside = [row.content for row in memories if row.content]
    assert full.stage.tenant.name in page and 'data-label="Agents">2<' in page
    secrets_of = [
        *inside,
        full.stage.coder.agent.name,
        full.stage.owner.user.email,
        "project:alpha",
        "invited@",
    ]
    assert all(text not in page for text in secrets_of)


def test_operator__finds_no_page_of_any_tenant(ops: Client) -> None:
    """Every address of a tenant, whether it reads or changes, is not there for somebody who only operates."""
    full = fill(make_tenant())
    filled = names(full)
    for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS):
        assert ops.get(full.at(path.format(**filled))).status_code == 404, path
    inside = [route for _name, route in _routes(list(urlpatterns), "") if route.startswith("t/")]
    assert len(inside) > 60
    for route in inside:
        path = "/" + re.sub(r"<slug:slug>", full.stage.tenant.slug, route)
        path = re.sub(r"<int:\w+>", "1", re.sub(r"<str:\w+>", "x_1", path))
        assert {ops.get(path).status_code, ops.post(path).status_code} <= {404, 405}, path
    assert ops.get("/api/v1/memories").status_code == 401


def test_operator__as_principal__is_let_into_no_members_service(operator: User) -> None:
    from memory.services.access import REVIEWERS, require_role
    from tenants.principals import Principal

    stage = make_tenant()
    who = Principal(stage.tenant.id, "operator", f"usr_{operator.id.hex}", str(operator), "operator")
    with pytest.raises(Denied):
        require_role(who, REVIEWERS, "decide")


def test_create__invites_the_owner_who_gets_in(ops: Client) -> None:
    slug = f"new-{secrets.token_hex(5)}"
    with mail_server() as box:
        answer = ops.post(AT, {"slug": slug, "name": "New mill", "owner": f"{slug}@example.test"})
        assert answer.status_code == 303
        path = re.search(r"/invite/[\w-]+/", box.last_text()).group()  # type: ignore[union-attr]
    assert ops.get(f"/t/{slug}/").status_code == 404, "making it opens nothing"
    owner = Client()
    sent = {"name": "First Owner", "password1": PASSWORD, "password2": PASSWORD}
    assert owner.post(path, sent).status_code == 302
    assert owner.get(f"/t/{slug}/members/").status_code == 200


@pytest.mark.parametrize(
    "sent", [{"slug": "TAKEN"}, {"slug": "a b"}, {"slug": ""}, {"name": ""}, {"owner": "x"}]
)
def test_create__with_something_wrong__makes_neither_tenant_nor_invitation(
    ops: Client, sent: dict[str, str]
) -> None:
    taken = make_tenant().tenant.slug
    good = {"slug": f"new-{secrets.token_hex(5)}", "name": "New mill", "owner": "o@example.test"}
    wrong = good | {name: taken if value == "TAKEN" else value for name, value in sent.items()}
    before = Tenant.objects.count()
    with mail_server() as box:
        answer = ops.post(AT, wrong)
        assert answer.status_code == 422 and b'role="alert"' in answer.content and box.messages == []
    assert Tenant.objects.count() == before


def test_suspend__closes_pages_keys_and_invitations_and_opens_them_again(ops: Client, stage: Stage) -> None:
    browser, path = signed_in(stage.owner), f"{AT}{stage.tenant.slug}/suspend/"
    assert ops.post(path, {"suspend": "yes", "reason": " "}).status_code == 422
    assert browser.get(f"/t/{stage.tenant.slug}/").status_code == 200
    assert ops.post(path, {"suspend": "yes", "reason": "the bill"}).status_code == 303
    assert browser.get(f"/t/{stage.tenant.slug}/").status_code == 404
    with pytest.raises(KeyRefused):
        authenticate_key(stage.coder.key_text)
    assert ops.post(path, {"suspend": "no"}).status_code == 303
    assert browser.get(f"/t/{stage.tenant.slug}/").status_code == 200 and authenticate_key(
        stage.coder.key_text
    )
    with stage.context():
        told = AuditEvent.objects.filter(action__startswith="tenant.").order_by("seq")
        assert [(row.action, row.actor_kind, row.reason) for row in told][-2:] == [
            ("tenant.suspended", "operator", "the bill"),
            ("tenant.resumed", "operator", ""),
        ]
    assert ops.post(f"{AT}no-such-tenant/suspend/", {"suspend": "yes", "reason": "x"}).status_code == 404


def test_members__even_owners__are_refused(stage: Stage, owner: Client) -> None:
    before = Tenant.objects.count()
    sent = {"slug": f"new-{secrets.token_hex(5)}", "name": "New", "owner": "o@example.test"}
    suspend = f"{AT}{stage.tenant.slug}/suspend/"
    assert owner.get(AT).status_code == owner.post(AT, sent).status_code == 403
    assert owner.post(suspend, {"suspend": "yes", "reason": "x"}).status_code == 403
    assert Client().get(AT).status_code == 302
    with pytest.raises(Denied):
        operator_tenant_create(stage.owner.user, sent["slug"], "New", "o@example.test")
    with pytest.raises(Denied):
        operator_tenant_suspend(stage.owner.user, stage.tenant.slug, True, "x")
    assert Tenant.objects.count() == before and Tenant.objects.get(id=stage.tenant.id).status == "active"
    with stage.context():
        assert not Invitation.objects.exists()


def test_command__makes_an_operator_and_takes_it_back(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    email = f"ops-{secrets.token_hex(6)}@example.test"
    call_command("tenant", "operator", email)
    assert "is an operator" in capsys.readouterr().out and User.objects.get(email=email).is_operator
    call_command("tenant", "operator", email, "--off")
    assert not User.objects.get(email=email).is_operator

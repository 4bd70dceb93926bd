"""A visitor's own copy of the demo: one click, alone in it, limited, gone after a day."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client, override_settings

from memgov import clock
from memory import tasks
from memory.demo.sandbox import LASTS, PREFIX, sandbox_of, sandbox_open
from memory.models import AuditEvent, Contradiction, Memory, PromotionRequest
from memory.services.errors import Conflict, NotFound
from memory.services.invitations import invitation_create
from memory.services.tenancy import agent_create, member_add
from memory.services.tenant_ends import tenants_end
from tenants.context import tenant_context
from tenants.models import Tenant, User
from tenants.principals import system
from tests.mailbox import mail_server

pytestmark = pytest.mark.usefixtures("database")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}


@pytest.fixture(autouse=True)
def _on() -> Iterator[None]:
    with override_settings(MEMGOV_DEMO_SANDBOXES=3, STORAGES=STORAGES):
        yield
    Tenant.objects.filter(slug__startswith=PREFIX).update(deletes_at=clock.now())
    tenants_end()


def visitor() -> Client:
    """Somebody at an address of their own, so that tests do not share a limit."""
    return Client(REMOTE_ADDR=f"2001:db8::{secrets.token_hex(2)}:{secrets.token_hex(2)}")


def started(browser: Client) -> Tenant:
    """Click, and let the worker's task run."""
    answer = browser.post("/demo/")
    assert answer.status_code == 302 and answer["Location"] == "/demo/", answer.content[:300]
    user = User.objects.get(id=browser.session["_auth_user_id"])
    tenant = sandbox_of(user)
    assert tenant is not None
    return tenant


def test_sandbox__off__is_not_there() -> None:
    with override_settings(MEMGOV_DEMO_SANDBOXES=0):
        assert visitor().get("/demo/").status_code == visitor().post("/demo/").status_code == 404
        with pytest.raises(NotFound):
            sandbox_open()
        assert "/demo/" not in visitor().get("/").content.decode()
    assert "/demo/" in visitor().get("/").content.decode()


def test_sandbox__one_click__gives_a_tenant_with_something_in_every_queue() -> None:
    browser = visitor()
    assert (
        browser.get("/demo/").status_code == 200
        and not Tenant.objects.filter(slug__startswith=PREFIX).exists()
    )
    tenant = started(browser)
    waiting = browser.get("/demo/")
    assert waiting["Refresh"] == "3" and "is being made" in waiting.content.decode()
    assert browser.get(f"/t/{tenant.slug}/").status_code == 404, "closed until it is whole"
    assert tasks.fill_sandbox(str(tenant.id)) == "filled"
    assert tasks.fill_sandbox(str(tenant.id)) == "open", "a message may come twice"
    ready = browser.get("/demo/")
    assert "Refresh" not in ready and f"/t/{tenant.slug}/promotions/" in ready.content.decode()
    with tenant_context(tenant.id):
        assert PromotionRequest.objects.filter(status="pending").exists()
        assert Contradiction.objects.filter(status="open").exists()
        assert {"live", "quarantined"} <= set(Memory.objects.values_list("status", flat=True))
        assert AuditEvent.objects.order_by("at").first().at > clock.now() - timedelta(days=13)  # type: ignore[union-attr]
    for page in ("", "promotions/", "quarantine/", "contradictions/", "memories/", "health/", "audit/"):
        assert browser.get(f"/t/{tenant.slug}/{page}").status_code == 200, page
    for page in ("agents/new/", "settings/delete/"):
        assert browser.get(f"/t/{tenant.slug}/{page}").status_code == 403, "a visitor is a reviewer"


def test_sandbox__of_another_visitor__is_not_found() -> None:
    first, second = visitor(), visitor()
    mine, theirs = started(first), started(second)
    assert mine.slug != theirs.slug
    for browser, tenant in ((first, mine), (second, theirs)):
        user = User.objects.get(id=browser.session["_auth_user_id"])
        member_add(system(tenant.id, "test"), user, "reviewer")
    Tenant.objects.filter(id__in=[mine.id, theirs.id]).update(status="active")
    assert first.get(f"/t/{mine.slug}/").status_code == 200
    assert first.get(f"/t/{theirs.slug}/").status_code == 404


def test_sandbox__after_a_day__is_deleted_with_its_people() -> None:
    browser = visitor()
    tenant = started(browser)
    people = User.objects.filter(email__endswith=f"@{tenant.slug}.example")
    assert people.count() == 4 and not any(one.has_usable_password() for one in people)
    other = User.objects.create_user(f"reviewer-{secrets.token_hex(4)}@example.test")
    assert tenant.slug not in tenants_end(clock.now() + LASTS - timedelta(minutes=1))
    assert tenants_end(clock.now() + LASTS + timedelta(minutes=1))[tenant.slug] == "deleted"
    assert not people.all().exists() and User.objects.filter(id=other.id).exists()
    with time_machine.travel(clock.now() + LASTS + timedelta(minutes=1), tick=False):
        assert "is ready" not in browser.get("/demo/").content.decode()
    assert tasks.fill_sandbox(str(tenant.id)) == "gone"


def test_sandbox__start_anew__gives_the_first_one_back() -> None:
    browser = visitor()
    first, second = started(browser), started(browser)
    assert first.slug != second.slug
    assert Tenant.objects.get(id=first.id).deletes_at <= clock.now()  # type: ignore[operator]


def test_sandbox__more_than_there_are__is_told_with_503() -> None:
    for _ in range(3):
        started(visitor())
    full = visitor()
    answer = full.post("/demo/")
    assert answer.status_code == 503 and answer["Retry-After"] and "is taken" in answer.content.decode()
    assert "_auth_user_id" not in full.session
    with pytest.raises(Conflict):
        sandbox_open()
    assert Tenant.objects.filter(slug__startswith=PREFIX, deletes_at__gt=clock.now()).count() == 3


def test_sandbox__too_often_from_one_address__is_told_with_429() -> None:
    browser = visitor()
    with override_settings(MEMGOV_DEMO_SANDBOXES=100):
        for _ in range(5):
            started(browser)
        answer = browser.post("/demo/")
        assert answer.status_code == 429 and answer["Retry-After"] == "3600"
        assert started(visitor()), "others are not held up"
    cache.clear()


def test_sandbox__half_lived__is_given_up() -> None:
    tenant = started(visitor())
    agent_create(system(tenant.id, "test"), "half", "coder")
    assert tasks.fill_sandbox(str(tenant.id)) == "given up"
    assert Tenant.objects.get(id=tenant.id).status == "suspended"


def test_sandbox__invites_nobody_and_sends_no_mail() -> None:
    tenant = started(visitor())
    with mail_server() as box, pytest.raises(Conflict) as refused:
        invitation_create(system(tenant.id, "test"), "anybody@example.test", "auditor")
    assert refused.value.code == "demo" and box.messages == []


def test_sandbox__visitor__cannot_claim_another_address() -> None:
    browser = visitor()
    tenant = started(browser)
    mine = set(User.objects.filter(email__endswith=f"@{tenant.slug}.example").values_list("email", flat=True))
    for action in ("action_add", "action_primary"):
        asked = {action: "", "email": "someone@example.test"}
        assert browser.post("/accounts/email/", asked).status_code == 302
    assert not User.objects.filter(email="someone@example.test").exists()
    assert set(User.objects.filter(email__in=mine).values_list("email", flat=True)) == mine and mine

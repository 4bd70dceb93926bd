"""Settings of a tenant and its end."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from memgov import clock
from memory.models import AuditEvent, Memory, PolicyVersion
from memory.selectors.policies import active_policy
from memory.services.tenant_ends import tenants_end
from memory.services.tenant_settings import GRACE
from tenants.authentication import KeyRefused, authenticate_key
from tenants.models import Tenant
from tests.factories import Stage, make_person, make_tenant
from tests.pages.staging import fill, signed_in

RULES = {
    "restore_days": "40", "manifest_days": "90", "approvals_project": "1", "approvals_shared": "2",
    "approvals_global": "2", "high_risk_approvals": "2", "reason": "two pairs of eyes", "active": "1",
}  # fmt: skip


def at(stage: Stage, what: str = "") -> str:
    return f"/t/{stage.tenant.slug}/settings/{what}"


def now_of(stage: Stage) -> Tenant:
    return Tenant.objects.get(id=stage.tenant.id)


def last_action(stage: Stage) -> str:
    with stage.context():
        return str(AuditEvent.objects.order_by("-seq").values_list("action", flat=True)[0])


def test_general__saved__is_shown_everywhere_and_audited_once(stage: Stage, owner: Client) -> None:
    sent = {"name": "Harbour works", "time_zone": "Europe/Vienna"}
    for _ in range(2):
        assert owner.post(at(stage), sent).status_code == 303
    assert (now_of(stage).name, now_of(stage).time_zone) == ("Harbour works", "Europe/Vienna")
    assert "Harbour works" in owner.get(f"/t/{stage.tenant.slug}/").content.decode()
    with stage.context():
        assert AuditEvent.objects.filter(action="tenant.settings_changed").count() == 1


@pytest.mark.parametrize(
    "sent",
    [
        {"name": " "},
        {"name": "x" * 201},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "../../etc/passwd"},
    ],
)
def test_general__that_is_wrong__changes_nothing(stage: Stage, owner: Client, sent: dict[str, str]) -> None:
    answer = owner.post(at(stage), {"name": "Fine", "time_zone": "UTC"} | sent)
    assert answer.status_code == 422 and b'role="alert"' in answer.content
    assert now_of(stage).name == "Test tenant"


def test_rules__put_in_force__are_a_new_policy_version(stage: Stage, owner: Client) -> None:
    with stage.context():
        PolicyVersion.objects.get(number=1)
    assert owner.post(at(stage, "rules/"), RULES).status_code == 303
    with stage.context():
        active = active_policy()
        version = PolicyVersion.objects.get(active=True)
    assert active.number == 2 and version.reason == "two pairs of eyes"
    assert active.policy.retention.manifest_days == 90 and not active.policy.retention.store_query_text
    assert active.policy.promotion.approvals["shared"] == 2 and active.policy.promotion.approvals["user"] == 1
    stale = owner.post(at(stage, "rules/"), RULES | {"manifest_days": "10"})
    assert stale.status_code == 409 and 'value="90"' in stale.content.decode(), "shows what is in force"
    with stage.context():
        assert active_policy().policy.retention.manifest_days == 90


@pytest.mark.parametrize(
    "sent",
    [
        {"reason": ""},
        {"manifest_days": "0"},
        {"approvals_shared": "0"},
        {"restore_days": "x"},
        {"active": ""},
    ],
)
def test_rules__that_are_wrong__change_nothing(stage: Stage, owner: Client, sent: dict[str, str]) -> None:
    assert owner.post(at(stage, "rules/"), RULES | sent).status_code == 422
    with stage.context():
        assert active_policy().number == 1


def test_delete__with_the_name_typed__ends_after_the_grace_and_takes_everything(database: None) -> None:
    stage, other = make_tenant(name="Old mill"), make_tenant()
    fill(stage), fill(other)
    owner = signed_in(stage.owner)
    assert "14 days" in owner.get(at(stage, "delete/")).content.decode()
    for typed in ("", "old mill", "Old mill II"):
        assert owner.post(at(stage, "delete/"), {"typed": typed}).status_code == 422
    assert now_of(stage).deletes_at is None
    assert owner.post(at(stage, "delete/"), {"typed": " Old mill "}).status_code == 303
    assert last_action(stage) == "tenant.deletion_asked"
    assert "will be deleted" in owner.get(at(stage)).content.decode()
    assert authenticate_key(stage.coder.key_text), "all goes on until then"
    assert stage.tenant.slug not in tenants_end(clock.now() + GRACE - timedelta(minutes=5))
    assert tenants_end(clock.now() + GRACE + timedelta(minutes=5))[stage.tenant.slug] == "deleted"
    assert not Tenant.objects.filter(id=stage.tenant.id).exists()
    with stage.context():
        assert not Memory.objects.exists() and not AuditEvent.objects.exists()
    with other.context():
        assert Memory.objects.exists()
    with pytest.raises(KeyRefused):
        authenticate_key(stage.coder.key_text)


def test_delete__called_off__keeps_everything(database: None) -> None:
    stage = make_tenant(name="Old mill")
    owner = signed_in(stage.owner)
    owner.post(at(stage, "delete/"), {"typed": "Old mill"})
    assert owner.post(at(stage, "keep/")).status_code == 303
    assert now_of(stage).deletes_at is None and last_action(stage) == "tenant.deletion_called_off"
    assert stage.tenant.slug not in tenants_end(clock.now() + GRACE * 2)
    again = owner.post(at(stage, "keep/"), follow=True)
    assert "called off already" in again.content.decode()


def test_delete__of_a_demo__can_be_called_off_where_somebody_asked_for_it(database: None) -> None:
    stage = make_tenant(name="Old mill")
    Tenant.objects.filter(id=stage.tenant.id).update(is_demo=True)
    owner = signed_in(stage.owner)
    owner.post(at(stage, "delete/"), {"typed": "Old mill"})
    assert "Call it off" in owner.get(at(stage)).content.decode()
    owner.post(at(stage, "keep/"))
    assert now_of(stage).deletes_at is None
    lent = clock.now() + timedelta(hours=5)  # a visitor's demo: nobody asked
    Tenant.objects.filter(id=stage.tenant.id).update(deletes_at=lent)
    assert "Call it off" not in owner.get(at(stage)).content.decode()
    owner.post(at(stage, "keep/"))
    assert now_of(stage).deletes_at == lent


def test_delete__asked_twice__keeps_the_first_day(database: None) -> None:
    stage = make_tenant(name="Old mill")
    signed_in(stage.owner).post(at(stage, "delete/"), {"typed": "Old mill"})
    first = now_of(stage).deletes_at
    with time_machine.travel(clock.now() + timedelta(days=3), tick=False):
        signed_in(stage.owner).post(at(stage, "delete/"), {"typed": "Old mill"})
    assert now_of(stage).deletes_at == first


def test_delete__by_an_admin__is_refused(stage: Stage) -> None:
    browser = signed_in(make_person(stage.tenant, "admin"))
    assert "Only an owner" in browser.get(at(stage)).content.decode()
    assert browser.get(at(stage, "delete/")).status_code == 403
    assert browser.post(at(stage, "delete/"), {"typed": "Test tenant"}).status_code == 403
    assert browser.post(at(stage, "keep/")).status_code == 403
    assert now_of(stage).deletes_at is None and last_action(stage) == "access.denied"


def test_ends__without_the_owners_role__closes_and_deletes_nothing(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker in production has only the app's role: the same address for both databases."""
    from django.db import connections

    stage = make_tenant(name="Old mill")
    Tenant.objects.filter(id=stage.tenant.id).update(deletes_at=clock.now() - timedelta(minutes=1))
    mine = connections["default"].settings_dict["USER"]
    monkeypatch.setitem(connections["owner"].settings_dict, "USER", mine)
    assert tenants_end()[stage.tenant.slug] == "closed"
    monkeypatch.undo()
    with stage.context():
        assert AuditEvent.objects.exists()
    assert signed_in(stage.owner).get(f"/t/{stage.tenant.slug}/").status_code == 404
    assert tenants_end()[stage.tenant.slug] == "deleted"

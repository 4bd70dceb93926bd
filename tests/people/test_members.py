"""Roles and removal of members."""

from __future__ import annotations

import threading

import pytest
from django.db import connections
from django.test import Client

from memory.models import AuditEvent
from memory.services.errors import Conflict
from memory.services.members import member_remove, member_role_set
from tenants.models import Membership
from tests.factories import Person, Stage, join, make_person, make_tenant
from tests.pages.staging import signed_in


def at(stage: Stage, person: Person, what: str) -> str:
    return f"/t/{stage.tenant.slug}/members/mbr_{person.membership.id.hex}/{what}/"


def roles(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(Membership.objects.values_list("email", "role"))


def test_role__is_changed_within_the_rules(stage: Stage, owner: Client) -> None:
    assert owner.post(at(stage, stage.reviewer, "role"), {"role": "admin"}).status_code == 303
    admin, third = signed_in(stage.reviewer), make_person(stage.tenant, "auditor")
    refused = [
        (third, "owner", 403),
        (stage.reviewer, "auditor", 409),
        (stage.owner, "auditor", 403),
        (third, "emperor", 422),
    ]
    for person, role, status in refused:
        assert admin.post(at(stage, person, "role"), {"role": role}).status_code == status, role
    assert owner.post(at(stage, stage.owner, "role"), {"role": "admin"}).status_code == 409
    found = roles(stage)
    assert found == {
        stage.owner.user.email: "owner",
        stage.reviewer.user.email: "admin",
        third.user.email: "auditor",
    }
    assert admin.post(at(stage, third, "role"), {"role": "reviewer"}).status_code == 303
    assert roles(stage)[third.user.email] == "reviewer"


def test_role__lowered__closes_pages_at_once(stage: Stage, owner: Client) -> None:
    browser, bulk = signed_in(stage.reviewer), f"/t/{stage.tenant.slug}/promotions/bulk/"
    assert browser.get(bulk).status_code == 200
    owner.post(at(stage, stage.reviewer, "role"), {"role": "auditor"})
    assert browser.get(bulk).status_code == 403


def test_remove__asks_first_then_ends_the_sessions_of_the_person(stage: Stage, owner: Client) -> None:
    browser, second = signed_in(stage.reviewer), signed_in(stage.reviewer)
    start = f"/t/{stage.tenant.slug}/"
    assert browser.get(start).status_code == 200
    asked = owner.get(at(stage, stage.reviewer, "remove"))
    assert "close at once" in asked.content.decode() and browser.get(start).status_code == 200
    assert owner.post(at(stage, stage.reviewer, "remove")).status_code == 303
    for one in (browser, second):
        answer = one.get("/tenants/")
        assert answer.status_code == 302 and answer["Location"].startswith("/accounts/login/"), "signed out"
    assert stage.reviewer.user.email not in roles(stage)
    with stage.context():
        last = AuditEvent.objects.order_by("-seq").first()
        assert last is not None and (last.action, last.before) == ("member.removed", {"role": "reviewer"})
    assert owner.post(at(stage, stage.reviewer, "remove")).status_code == 404


def test_remove__of_someone_with_another_tenant__closes_this_one_only(stage: Stage, owner: Client) -> None:
    other = make_tenant()
    join(other.tenant, stage.reviewer.user, "auditor")
    browser = signed_in(stage.reviewer)
    owner.post(at(stage, stage.reviewer, "remove"))
    assert browser.get(f"/t/{stage.tenant.slug}/").status_code == 404
    assert browser.get(f"/t/{other.tenant.slug}/").status_code == 200


def test_remove__in_the_middle_of_a_form__decides_nothing(stage: Stage, owner: Client) -> None:
    from tests.pages.staging import fill, prm

    full = fill(stage)
    browser = signed_in(stage.reviewer)
    assert browser.get(full.at(f"promotions/{prm(full.request)}/")).status_code == 200
    owner.post(at(stage, stage.reviewer, "remove"))
    decide = full.at(f"promotions/{prm(full.request)}/decide/")
    part = browser.post(decide, {"action": "approve", "version": "1"}, headers={"HX-Request": "true"})
    assert part.status_code == 403 and part["X-Session-Ended"] == "1"
    with stage.context():
        assert type(full.request).objects.get(id=full.request.id).status == "pending"


def test_remove__of_oneself_an_owner_by_an_admin_or_a_stranger__is_refused(
    stage: Stage, owner: Client
) -> None:
    admin, other = make_person(stage.tenant, "admin"), make_tenant()
    before = roles(stage)
    assert owner.post(at(stage, stage.owner, "remove")).status_code == 409
    assert signed_in(admin).post(at(stage, stage.owner, "remove")).status_code == 403
    assert owner.post(at(stage, other.reviewer, "remove")).status_code == 404
    assert signed_in(other.owner).post(at(stage, stage.reviewer, "remove")).status_code == 404
    assert roles(stage) == before


def test_last_owner__two_who_demote_each_other__one_stays(stage: Stage) -> None:
    second = make_person(stage.tenant, "owner")
    ends: list[str] = []
    barrier = threading.Barrier(2)

    def demote(actor: Person, target: Person, remove: bool) -> None:
        barrier.wait()
        try:
            if remove:
                member_remove(actor.principal, target.membership.id)
            else:
                member_role_set(actor.principal, target.membership.id, "auditor")
            ends.append("done")
        except Conflict as error:
            ends.append(error.code)
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=demote, args=(stage.owner, second, True)),
        threading.Thread(target=demote, args=(second, stage.owner, False)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["done", "last_owner"]
    assert list(roles(stage).values()).count("owner") == 1


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_members__without_the_right__have_no_controls(stage: Stage, role: str) -> None:
    page = signed_in(make_person(stage.tenant, role)).get(f"/t/{stage.tenant.slug}/members/").content.decode()
    assert "Remove" not in page and "Invite" not in page and stage.owner.user.email in page

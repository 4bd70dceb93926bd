"""Every page for every role, for people without a tenant, and for another tenant's people."""

from __future__ import annotations

import pytest
from django.test import Client

from memory.domain.ids import new_id
from tests.factories import make_person, make_tenant
from tests.pages.staging import Full, fill, signed_in
from tests.pages.test_every_page import (
    CHANGES,
    FOR_ADMINS,
    FOR_REVIEWERS,
    MAY,
    READABLE,
    _filled,
    names,
    state,
)


@pytest.mark.parametrize("role", ["owner", "admin", "reviewer", "auditor"])
def test_pages__for_a_role__open_or_are_refused(full: Full, role: str) -> None:
    browser, filled = signed_in(make_person(full.stage.tenant, role)), names(full)
    for path in READABLE:
        assert browser.get(full.at(path.format(**filled))).status_code == 200, path
    for path in FOR_REVIEWERS:
        expected = 200 if "review" in MAY[role] else 403
        assert browser.get(full.at(path.format(**filled))).status_code == expected, path
    for path in FOR_ADMINS:
        expected = 200 if "admin" in MAY[role] else 403
        assert browser.get(full.at(path.format(**filled))).status_code == expected, path


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_changes__without_the_role__are_refused_recorded_and_change_nothing(full: Full, role: str) -> None:
    from memory.models import AuditEvent

    person = make_person(full.stage.tenant, role)
    browser, filled = signed_in(person), names(full)
    before = state(full)
    refused = [one for one in CHANGES if one[2] not in MAY[role]]
    for path, sent, _need in refused:
        for headers in ({}, {"HX-Request": "true", "HX-Target": "detail"}):
            answer = browser.post(full.at(path.format(**filled)), _filled(sent, filled), headers=headers)
            assert answer.status_code == 403, path
    assert state(full) == before
    with full.stage.context():
        denied = AuditEvent.objects.filter(action="access.denied", actor_id=person.principal.id)
        assert denied.count() == 2 * len(refused)


def test_another_tenants_people__find_nothing_and_change_nothing(full: Full) -> None:
    """Neither under the tenant's own address, nor with its ids under their own; the same request by an owner of
    the tenant is answered, which shows that the addresses are right."""
    other = fill(make_tenant())
    stranger, filled, before = signed_in(other.stage.owner), names(full), state(full)
    unknown = {name: f"{value.split('_')[0]}_{new_id().hex}" for name, value in filled.items()}
    for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS):
        foreign = stranger.get(full.at(path.format(**filled)))
        assert foreign.status_code == 404, path
        if "{" in path:
            mine = stranger.get(other.at(path.format(**filled)))
            nothing = stranger.get(other.at(path.format(**unknown)))
            assert mine.status_code == nothing.status_code == 404, path
            assert mine.content == nothing.content, path
    for path, sent, _need in CHANGES:
        if "{" not in path:
            assert stranger.post(full.at(path), _filled(sent, filled)).status_code == 404, path
            continue
        for base in (full.base, other.base):
            assert stranger.post(base + path.format(**filled), _filled(sent, filled)).status_code == 404, path
    assert state(full) == before


def test_pages__signed_out__lead_to_the_sign_in(full: Full) -> None:
    nobody, filled = Client(), names(full)
    for path in READABLE:
        answer = nobody.get(full.at(path.format(**filled)))
        assert answer.status_code == 302 and answer["Location"].startswith("/accounts/login/"), path
    part = nobody.get(full.at("promotions/"), headers={"HX-Request": "true", "HX-Target": "list"})
    assert part.status_code == 403 and part["X-Session-Ended"] == "1"


def test_an_operator__without_membership__sees_no_tenant(full: Full) -> None:
    from tests.factories import make_person

    operator = make_person(make_tenant().tenant, "owner").user
    operator.is_operator = True
    operator.save()
    browser = Client()
    browser.force_login(operator)
    assert browser.get(full.at("memories/")).status_code == 404


def test_tenants__with_one__is_skipped_and_with_several__is_offered(full: Full) -> None:
    from tests.factories import join

    browser = signed_in(full.stage.reviewer)
    assert browser.get("/tenants/")["Location"] == full.base
    second = make_tenant(name="Second tenant")
    join(second.tenant, full.stage.reviewer.user, "auditor")
    page = browser.get("/tenants/").content.decode()
    assert "Second tenant" in page and "Test tenant" in page

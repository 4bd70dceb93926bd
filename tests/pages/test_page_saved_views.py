"""Views of a queue under a name: a person's own."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from tenants.models import Membership
from tests.factories import make_person, make_tenant
from tests.pages.staging import Full, signed_in


def kept(full: Full) -> list[dict[str, str]]:
    with full.stage.context():
        row = Membership.objects.get(user_id=full.stage.reviewer.user.id)
    return list(row.saved_views)


def save(browser: Client, full: Full, **sent: str) -> object:
    good = {"queue": "promotions", "name": "Risky", "view": "high", "q": "gate way&", "sort": "risk"}
    return browser.post(full.at("views/save/"), good | sent)


def test_view__kept__leads_back_to_the_same_queue(full: Full, reviewer: Client) -> None:
    answer = save(reviewer, full)
    assert answer.status_code == 303 and "sort=risk" in answer["Location"]  # type: ignore[attr-defined,index]
    page = reviewer.get(full.at("promotions/")).content.decode()
    address = html.unescape(re.search(r'<a href="([^"]+)">Risky</a>', page).group(1))  # type: ignore[union-attr]
    shown = reviewer.get(address).content.decode()
    assert 'value="gate way&amp;"' in shown and '<option value="risk" selected>' in shown
    assert "Risky" not in reviewer.get(full.at("quarantine/")).content.decode(), "of this queue alone"
    save(reviewer, full, view="all")
    assert [one["view"] for one in kept(full)] == ["all"], "the same name again replaces it"
    assert reviewer.post(full.at("views/drop/"), {"queue": "promotions", "name": "Risky"}).status_code == 303
    assert kept(full) == []


def test_view__is_ones_own_and_any_role_may(full: Full, reviewer: Client) -> None:
    save(reviewer, full)
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    assert "Risky" not in auditor.get(full.at("promotions/")).content.decode()
    assert save(auditor, full, name="Mine").status_code == 303  # type: ignore[attr-defined]
    assert "Mine" in auditor.get(full.at("promotions/")).content.decode()
    stranger = signed_in(make_tenant().owner)
    assert save(stranger, full).status_code == 404  # type: ignore[attr-defined]
    assert stranger.post(full.at("views/drop/"), {"queue": "promotions", "name": "Risky"}).status_code == 404
    assert [one["name"] for one in kept(full)] == ["Risky"]
    assert Client().post(full.at("views/save/"), {}).status_code == 302


@pytest.mark.parametrize("sent", [{"name": ""}, {"name": " "}, {"name": "x" * 41}])
def test_view__without_a_fit_name__is_not_kept(full: Full, reviewer: Client, sent: dict[str, str]) -> None:
    answer = save(reviewer, full, **sent)
    assert answer.status_code == 303 and kept(full) == []  # type: ignore[attr-defined]
    assert "Give the view a name" in reviewer.get(answer["Location"]).content.decode()  # type: ignore[index]


def test_view__with_what_no_queue_knows__is_brought_to_what_it_knows(full: Full, reviewer: Client) -> None:
    assert save(reviewer, full, queue="memories").status_code == 404  # type: ignore[attr-defined]
    save(reviewer, full, view="<b>", sort="x", name="<i>odd</i>", q="a" * 500)
    [one] = kept(full)
    assert (one["view"], one["sort"], len(one["q"])) == ("needs", "", 200)
    assert b"<i>odd" not in reviewer.get(full.at("promotions/")).content


def test_view__more_than_twelve__is_refused(full: Full, reviewer: Client) -> None:
    for number in range(13):
        save(reviewer, full, name=f"view {number}")
    assert len(kept(full)) == 12

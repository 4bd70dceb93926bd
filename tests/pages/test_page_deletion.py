"""Deleting many memories from the explorer, following the step, and taking it back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.pages.removing import form_of, statuses

if TYPE_CHECKING:
    from django.test import Client

    from memory.models import Memory
    from tests.pages.staging import Full

HOSTILE = "<img src=x onerror=alert(1)> stands on the wall of the pump house."


@pytest.fixture
def pumps(full: Full) -> list[Memory]:
    """Three memories about pumps by the coder, of which a person pinned one, and one derived from the first."""
    from memory.services.retention import memory_pin
    from tests.pages.staging import write

    first = write(full.stage.coder, content=HOSTILE, scope="user:7")
    second = write(full.stage.coder, content="The pump house valve is serviced in spring.", scope="user:7")
    pinned = write(full.stage.coder, content="The pump house key hangs by the door.", scope="user:7")
    write(full.stage.coder, content="Two technicians service what is on the wall.", derived_from=[first.id])
    memory_pin(full.stage.reviewer.principal, pinned.id, "needed")
    return [first, second, pinned]


def run_last(full: Full) -> None:
    """What the worker does."""
    from memory.models import Job
    from memory.services.deletion_steps import deletion_run

    with full.stage.context():
        job = Job.objects.latest("created_at")
    assert deletion_run(full.stage.tenant.id, job.id) == "done"


def test_explorer__offers_to_delete_what_is_picked_or_matches__to_reviewers(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    from tests.factories import make_person
    from tests.pages.staging import mem, signed_in

    plain = reviewer.get(full.at("memories/")).content.decode()
    assert f'name="id" value="{mem(pumps[0])}"' in plain and "Delete picked" in plain
    assert "Delete all that match" not in plain, "without a filter that would be everything"
    filtered = reviewer.get(full.at("memories/?scope=user:7")).content.decode()
    assert "memories/delete/?scope=user%3A7" in filtered
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    assert "Delete picked" not in auditor.get(full.at("memories/?scope=user:7")).content.decode()


def test_delete__all_that_match__tells_what_stays_and_why__and_comes_back(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    page = reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode()
    assert "Delete 2 memories?" in page and "1 is left as it is" in page and "pinned by a person" in page
    assert "1 more was derived from them" in page
    assert "<img src=x" not in page and "&lt;img src=x" in page
    answer = reviewer.post(full.at("memories/delete/"), {**form_of(page), "reason": "moved away"})
    assert answer.status_code == 303
    assert statuses(full, pumps) == ["deleted", "deleted", "live"]
    step = reviewer.get(answer["Location"]).content.decode()
    assert "2 memories are deleted." in step and "moved away" in step and "Take the step back" in step
    assert "pinned by a person" in step
    back = reviewer.post(f"{answer['Location']}undo/")
    assert back.status_code == 303
    assert "every 2s" in reviewer.get(back["Location"]).content.decode()
    run_last(full)
    assert statuses(full, pumps) == ["live"] * 3
    assert "2 memories came back." in reviewer.get(back["Location"]).content.decode()
    assert "It was taken back" in reviewer.get(answer["Location"]).content.decode()
    again = reviewer.post(f"{answer['Location']}undo/", follow=True)
    assert "was taken back already" in again.content.decode()


def test_delete__picked__takes_these_and_their_derived_when_asked(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    from memory.models import Memory
    from tests.pages.staging import mem

    address = full.at(f"memories/delete/?id={mem(pumps[0])}&id={mem(pumps[2])}&id=nonsense")
    page = reviewer.get(address).content.decode()
    assert "Delete 2 memories?" in page, "who picks a pinned one means it"
    fields = {name: form_of(page)[name] for name in ("seen", "seal", "derived_seal")}
    sent = {**fields, "id": [mem(pumps[0]), mem(pumps[2])], "reason": "gone", "cascade": "yes"}
    assert reviewer.post(full.at("memories/delete/"), sent).status_code == 303
    assert statuses(full, pumps) == ["deleted", "live", "deleted"]
    with full.stage.context():
        assert Memory.objects.get(content__startswith="Two technicians").status == "deleted"


def test_delete__something_else_would_go_by_now__409_shows_it_and_nothing_is_gone(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    from memory.services.retention import memory_unpin

    fields = form_of(reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode())
    memory_unpin(full.stage.reviewer.principal, pumps[2].id)
    answer = reviewer.post(full.at("memories/delete/"), {**fields, "reason": "moved away"})
    text = answer.content.decode()
    assert answer.status_code == 409 and "Nothing was deleted" in text and "Delete 3 memories?" in text
    assert "moved away" in text and statuses(full, pumps) == ["live"] * 3
    assert form_of(text)["seal"] != fields["seal"]
    unsealed = reviewer.post(full.at("memories/delete/"), {"scope": "user:7", "reason": "moved away"})
    assert unsealed.status_code == 409 and statuses(full, pumps) == ["live"] * 3
    assert reviewer.post(full.at("memories/delete/"), {**form_of(text), "reason": "x"}).status_code == 303


def test_delete__without_a_reason_or_without_anything__says_so(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    fields = form_of(reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode())
    answer = reviewer.post(full.at("memories/delete/"), {**fields, "reason": " "})
    assert answer.status_code == 422 and "Say why they are deleted" in answer.content.decode()
    assert "Nothing is chosen" in reviewer.get(full.at("memories/delete/")).content.decode()
    none = reviewer.get(full.at("memories/delete/?q=nowhere-to-be-found")).content.decode()
    assert "Nothing to delete" in none and 'class="btn no"' not in none
    odd = reviewer.get(full.at("memories/delete/?scope=nowhere&seen=yesterday&agent=x&band=%27"))
    assert odd.status_code == 200
    assert statuses(full, pumps) == ["live"] * 3


def test_delete__many__are_a_job_that_is_watched(
    full: Full, reviewer: Client, pumps: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.services import deletion_steps

    monkeypatch.setattr(deletion_steps, "AT_ONCE", 1)
    fields = form_of(reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode())
    answer = reviewer.post(full.at("memories/delete/"), {**fields, "reason": "moved away"})
    part = reviewer.get(
        answer["Location"], headers={"HX-Request": "true", "HX-Target": "step"}
    ).content.decode()
    assert part.lstrip().startswith("<section") and "Under way: 0 of 2." in part and "every 2s" in part
    assert statuses(full, pumps) == ["live"] * 3
    run_last(full)
    part = reviewer.get(
        answer["Location"], headers={"HX-Request": "true", "HX-Target": "step"}
    ).content.decode()
    assert "2 memories are deleted." in part and "every 2s" not in part


def test_step__of_another_tenant_or_kind__is_not_there(
    full: Full, reviewer: Client, owner: Client, pumps: list[Memory]
) -> None:
    from memory.domain.ids import show_id
    from tests.factories import make_person, make_tenant
    from tests.pages.staging import signed_in

    fields = form_of(reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode())
    step = reviewer.post(full.at("memories/delete/"), {**fields, "reason": "moved away"})["Location"]
    stranger = make_tenant()
    browser, there = signed_in(stranger.owner), step.replace(full.stage.tenant.slug, stranger.tenant.slug)
    assert [browser.get(one).status_code for one in (step, there)] == [404, 404]
    assert [browser.post(f"{one}undo/").status_code for one in (step, there)] == [404, 404]
    preview = full.at(f"memories/deletions/{show_id('job', full.preview.id)}/")
    assert reviewer.get(preview).status_code == 404
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    assert auditor.get(step).status_code == 200 and auditor.post(f"{step}undo/").status_code == 403
    assert "Take the step back" not in auditor.get(step).content.decode()
    assert statuses(full, pumps) == ["deleted", "deleted", "live"]


def test_delete__with_what_was_derived_from_many__is_shown_before_it_is_done(
    full: Full, reviewer: Client, pumps: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.models import Memory
    from memory.services import deletion

    monkeypatch.setattr(deletion, "MOST_UNASKED", 1)
    page = reviewer.get(full.at("memories/delete/?scope=user:7")).content.decode()
    assert "What was derived from them" in page and "Two technicians" not in page
    sent = {**form_of(page), "reason": "moved away", "cascade": "yes"}
    answer = reviewer.post(full.at("memories/delete/"), sent)
    text = answer.content.decode()
    assert answer.status_code == 409 and "1 more was derived from them" in text and "Two technicians" in text
    assert 'value="yes" checked' in text and statuses(full, pumps) == ["live"] * 3
    again = {**form_of(text), "reason": "moved away", "cascade": "yes"}
    with full.stage.context():
        Memory.objects.filter(content__startswith="Two technicians").update(version=7)
    assert reviewer.post(full.at("memories/delete/"), again).status_code == 409
    assert statuses(full, pumps) == ["live"] * 3


def test_step__shows_by_which_conditions__and_not_what_they_said(
    full: Full, reviewer: Client, pumps: list[Memory]
) -> None:
    fields = form_of(reviewer.get(full.at("memories/delete/?q=pump&kind=fact")).content.decode())
    step = reviewer.post(full.at("memories/delete/"), {**fields, "reason": "moved away"})["Location"]
    shown = reviewer.get(step).content.decode()
    assert re.findall(r'<span class="chip">(.*?)</span>', shown) == ["Kind", "Q"]

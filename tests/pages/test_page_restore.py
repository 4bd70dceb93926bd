"""Restoring in the browser: what lives in its place is shown beside it, and the decision is bound to what was seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from memory.models import Memory
    from tests.pages.staging import Full


@pytest.fixture
def replaced(full: Full) -> tuple[Memory, Memory]:
    """A value that gave way to a newer one."""
    from tests.pages.staging import write

    keyed = {"subject": "user:77", "predicate": "plan", "scope": "project:alpha", "content": None}
    return write(full.stage.coder, **keyed, value="starter"), write(full.stage.coder, **keyed, value="team")


def now_is(full: Full, memory: Memory) -> Memory:
    from memory.models import Memory

    with full.stage.context():
        return Memory.objects.get(id=memory.id)


def form_of(page: str) -> dict[str, object]:
    """What the page's own form would send."""
    version = re.search(r'name="version" value="(\d+)"', page)
    assert version is not None
    return {"version": version[1], "rival": re.findall(r'name="rival" value="([^"]+)"', page)}


def test_restore__place_taken__shows_both_and_decides(
    full: Full, reviewer: Client, replaced: tuple[Memory, Memory]
) -> None:
    from tests.pages.staging import mem

    old, new = replaced
    where = full.at(f"memories/{mem(old)}/restore/")
    page = reviewer.get(where).content.decode()
    assert "Another memory lives in its place" in page and mem(new) in page and "contested" in page
    kept = reviewer.post(where, {**form_of(page), "on_clash": "refuse"})
    assert kept.status_code == 409 and now_is(full, old).status == "superseded"
    done = reviewer.post(
        where, {**form_of(page), "on_clash": "replace", "reason": "the change was never made"}
    )
    assert done.status_code == 303
    assert (now_is(full, old).status, now_is(full, new).status) == ("live", "superseded")
    assert reviewer.get(where).status_code == 404, "nothing to restore any more"


def test_restore__what_lives_there_changed_meanwhile__is_a_409_with_the_present_state(
    full: Full, reviewer: Client, replaced: tuple[Memory, Memory]
) -> None:
    from memory.services.retention import memory_pin
    from tests.pages.staging import mem

    old, new = replaced
    where = full.at(f"memories/{mem(old)}/restore/")
    sent = form_of(reviewer.get(where).content.decode())
    memory_pin(full.stage.owner.principal, new.id, "the contract says so")
    late = reviewer.post(where, {**sent, "on_clash": "replace"})
    assert late.status_code == 409 and "has changed since you looked" in late.content.decode()
    assert now_is(full, old).status == "superseded"
    again = form_of(late.content.decode())
    assert reviewer.post(where, {**again, "on_clash": "contest"}).status_code == 303
    assert now_is(full, old).status == "contested"
    assert reviewer.post(where, {"version": "1", "until": "soon"}).status_code == 422


def test_evictions__place_taken__leads_to_the_decision(full: Full, reviewer: Client) -> None:
    from memory.services.retention import memory_delete
    from tests.pages.staging import FACT, mem, write

    memory_delete(full.stage.owner.principal, full.memory.id, "wrong")
    write(full.stage.coder, content=FACT.content)
    answer = reviewer.post(full.at(f"evictions/{mem(full.memory)}/restore/"), {"version": 2})
    assert answer.status_code == 303 and answer["Location"].endswith(f"memories/{mem(full.memory)}/restore/")
    assert now_is(full, full.memory).status == "deleted"


def test_evictions__let_go__is_a_tombstone_that_can_still_come_back(full: Full, reviewer: Client) -> None:
    from memory.models import Memory
    from tests.pages.staging import mem

    with full.stage.context():
        Memory.objects.filter(id=full.memory.id).update(status="archived")
    page = reviewer.get(full.at("evictions/")).content.decode()
    assert "Let go" in page and "Restore a whole sweep" in page
    where = full.at(f"evictions/{mem(full.memory)}/let-go/")
    assert reviewer.post(where, {"version": 1}).status_code == 303
    assert now_is(full, full.memory).status == "deleted"
    assert reviewer.post(where, {"version": 1}).status_code == 303, "a stale form says so and changes nothing"
    assert now_is(full, full.memory).version == 2
    restored = reviewer.post(full.at(f"evictions/{mem(full.memory)}/restore/"), {"version": 2})
    assert restored.status_code == 303 and now_is(full, full.memory).status == "live"


def test_restore__without_the_role_or_of_another_tenant__is_refused_or_not_there(
    full: Full, replaced: tuple[Memory, Memory]
) -> None:
    from tests.factories import make_person, make_tenant
    from tests.pages.staging import mem, signed_in

    old, _new = replaced
    paths = [f"memories/{mem(old)}/restore/", f"evictions/{mem(old)}/let-go/"]
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    other = make_tenant()
    stranger = signed_in(other.owner)
    for path in paths:
        assert auditor.post(full.at(path), {"version": 2, "on_clash": "replace"}).status_code == 403
        for base in (full.base, f"/t/{other.tenant.slug}/"):
            assert stranger.post(base + path, {"version": 2, "on_clash": "replace"}).status_code == 404
    assert auditor.get(full.at(paths[0])).status_code == 403
    assert stranger.get(full.at(paths[0])).status_code == 404
    assert now_is(full, old).status == "superseded"

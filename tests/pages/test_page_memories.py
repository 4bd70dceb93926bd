"""The explorer and one memory: filters, history, and what people do with it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from memgov import clock
from memory.models import Memory
from memory.services.memory_write import memory_offer
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.write_types import Offer, WriteRequest
from tests.factories import make_person
from tests.pages.staging import Full, mem, signed_in, write

ACT = "memories/{}/{}/"


def now_is(full: Full, memory: Memory) -> Memory:
    with full.stage.context():
        return Memory.objects.get(id=memory.id)


def act(browser: Client, full: Full, what: str, **sent: object):  # type: ignore[no-untyped-def]
    return browser.post(full.at(ACT.format(mem(full.memory), what)), {"version": 1, **sent})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "blue gateways"}, True),
        ({"q": "EU-NORTH-4"}, True),
        ({"q": "nothing of the kind"}, False),
        ({"scope": "project:alpha"}, True),
        ({"scope": "user:42"}, False),
        ({"status": "live", "kind": "fact", "band": "fresh", "origin": "tool_verified"}, True),
        ({"status": "deleted"}, False),
        ({"band": "outdated"}, False),
        ({"band": "no such band"}, False),
        ({"pinned": "1"}, False),
        ({"agent": "agt_nonsense"}, False),
        ({"q": "100%_\\"}, False),
        ({"at": "not a cursor"}, True),
    ],
)
def test_explorer__with_filters__finds_what_matches(
    full: Full, reviewer: Client, query: dict[str, str], found: bool
) -> None:
    whole = reviewer.get(full.at("memories/"), query)
    part = reviewer.get(full.at("memories/"), query, headers={"HX-Request": "true", "HX-Target": "rows"})
    for answer in (whole, part):
        assert answer.status_code == 200
        assert (full.memory.content in answer.content.decode()) == found
    assert "<html" not in part.content.decode()


def test_explorer__by_id__finds_the_one(full: Full, reviewer: Client) -> None:
    text = reviewer.get(full.at("memories/"), {"q": mem(full.held)}).content.decode()
    assert full.held.content[:40] in text and full.memory.content not in text


def test_explorer__longer_than_a_page__is_walked_both_ways(full: Full, reviewer: Client) -> None:
    import re

    from memory.selectors.pages_paging import PAGE

    for at in range(PAGE + 7):
        write(
            full.stage.coder, content=f"Rack {at} of hall {at % 7} holds the spare router number {at * 31}."
        )
    link = re.compile(r'rel="(prev|next)" href="([^"]+)"')
    first = reviewer.get(full.at("memories/"), {"scope": "project:alpha"}).content.decode()
    pages = dict(link.findall(first))
    assert set(pages) == {"next"}
    second = reviewer.get(pages["next"].replace("&amp;", "&")).content.decode()
    pages = dict(link.findall(second))
    assert set(pages) == {"prev"}
    again = reviewer.get(pages["prev"].replace("&amp;", "&")).content.decode()
    ids = re.compile(r"memories/(mem_[0-9a-f]{32})/")
    assert ids.findall(again) == ids.findall(first)
    assert not set(ids.findall(first)) & set(ids.findall(second))


def test_memory__shows_its_readers_manifests_and_expiry(full: Full, reviewer: Client) -> None:
    given = memory_retrieve(
        full.stage.coder.principal, RetrieveRequest("staging cluster region gateway", session="s-77")
    )
    text = reviewer.get(full.at(f"memories/{mem(full.memory)}/")).content.decode()
    assert f"man_{given.manifest.id.hex}"[:17] in text and "s-77" in text
    assert "no expiry (policy default)" in text
    assert full.stage.orchestrator.agent.name in text
    assert "grant on project:alpha" in text
    manifest = reviewer.get(full.at(f"manifests/man_{given.manifest.id.hex}/"))
    assert manifest.status_code == 200 and full.memory.content in manifest.content.decode()


def test_pin__needs_a_reason_and_a_date_ahead(full: Full, reviewer: Client) -> None:
    assert act(reviewer, full, "pin", reason=" ").status_code == 422
    assert act(reviewer, full, "pin", reason="keep", until="2001-01-01").status_code == 422
    assert act(reviewer, full, "pin", reason="keep", until="soon").status_code == 422
    day = (clock.now() + timedelta(days=40)).date().isoformat()
    assert act(reviewer, full, "pin", reason="the contract says so", until=day).status_code == 303
    pinned = now_is(full, full.memory)
    assert pinned.pin_reason == "the contract says so" and pinned.pinned_until.date().isoformat() == day
    page = reviewer.get(full.at(f"memories/{mem(full.memory)}/")).content.decode()
    assert "the contract says so" in page and "Unpin" in page
    assert act(reviewer, full, "unpin", version=2).status_code == 303
    assert now_is(full, full.memory).pinned_at is None


def test_edit__makes_a_version_that_shows_the_difference(full: Full, reviewer: Client) -> None:
    new = full.memory.content.replace("blue", "green")
    assert act(reviewer, full, "edit", content=new).status_code == 303
    assert now_is(full, full.memory).content == new
    page = reviewer.get(full.at(f"memories/{mem(full.memory)}/")).content.decode()
    assert "<del>blue</del>" in page and "<ins>green</ins>" in page
    stale = act(reviewer, full, "edit", content=new.replace("green", "red"))
    assert stale.status_code == 409
    assert now_is(full, full.memory).content == new


def test_edit__that_no_write_would_pass__is_refused_and_kept_in_the_form(
    full: Full, reviewer: Client
) -> None:
    answer = act(reviewer, full, "edit", content="ok")
    assert answer.status_code == 422
    assert ">ok</textarea>" in answer.content.decode()
    assert now_is(full, full.memory).version == 1


def test_delete__with_cascade__takes_what_was_derived(full: Full, reviewer: Client) -> None:
    child = write(full.stage.coder, content="Restarts of the staging cluster drain the blue gateway first.",
                  derived_from=(full.memory.id,))  # fmt: skip
    assert (
        child.content[:30] in reviewer.get(full.at(ACT.format(mem(full.memory), "delete"))).content.decode()
    )
    assert act(reviewer, full, "delete", reason="").status_code == 422
    assert act(reviewer, full, "delete", reason="wrong", cascade="yes").status_code == 303
    assert [now_is(full, one).status for one in (full.memory, child)] == ["deleted", "deleted"]
    assert act(reviewer, full, "restore", version=2).status_code == 303
    assert now_is(full, full.memory).status == "live"


def test_verify__makes_it_fresh_without_a_new_version(full: Full, reviewer: Client) -> None:
    before = now_is(full, full.memory)
    assert act(reviewer, full, "verify").status_code == 303
    after = now_is(full, full.memory)
    assert after.learned_at > before.learned_at and after.version == before.version


@pytest.fixture
def candidate(full: Full) -> Memory:
    """A row of a foreign store, which waits for a person."""
    request = WriteRequest(
        content="The ferry to the archive leaves at nine.", scope="project:alpha", origin="tool_output"
    )
    outcome = memory_offer(full.stage.owner.principal, request, Offer(reason="imported"))
    assert outcome.memory is not None and outcome.memory.status == "candidate"
    return outcome.memory


def test_admit__a_candidate__lives_from_then_on(full: Full, reviewer: Client, candidate: Memory) -> None:
    page = full.at(f"memories/{mem(candidate)}/")
    assert "Let it in" in reviewer.get(page).content.decode()
    answer = reviewer.post(f"{page}admit/", {"version": candidate.version}, follow=True)
    assert answer.redirect_chain and answer.status_code == 200
    assert "Let it in" not in answer.content.decode()
    assert now_is(full, candidate).status == "live"


def test_admit__by_an_auditor__is_neither_offered_nor_done(full: Full, candidate: Memory) -> None:
    auditor = signed_in(make_person(full.stage.tenant, "auditor"))
    page = full.at(f"memories/{mem(candidate)}/")
    assert "Let it in" not in auditor.get(page).content.decode()
    assert auditor.post(f"{page}admit/", {"version": candidate.version}).status_code == 403
    assert now_is(full, candidate).status == "candidate"


def test_admit__changed_since_it_was_shown__says_so_and_changes_nothing(
    full: Full, reviewer: Client, candidate: Memory
) -> None:
    answer = reviewer.post(full.at(f"memories/{mem(candidate)}/admit/"), {"version": candidate.version + 1})
    assert answer.status_code == 409
    assert now_is(full, candidate).status == "candidate"


def test_admit__the_same_lives_already__names_it(full: Full, reviewer: Client, candidate: Memory) -> None:
    write(full.stage.coder, content=candidate.content, scope=candidate.scope)
    answer = reviewer.post(full.at(f"memories/{mem(candidate)}/admit/"), {"version": candidate.version})
    assert answer.status_code == 409
    assert "lives in its place" in answer.content.decode()
    assert now_is(full, candidate).status == "candidate"


NEW = {"content": "The relay mast is painted every fourth spring.", "scope": "project:alpha"}


def test_new__written_by_hand__is_stored_under_the_persons_name(full: Full, reviewer: Client) -> None:
    assert "Write one" in reviewer.get(full.at("memories/")).content.decode()
    assert 'value="project:alpha"' in reviewer.get(full.at("memories/new/")).content.decode()
    answer = reviewer.post(full.at("memories/new/"), NEW, follow=True)
    assert "Stored." in answer.content.decode() and NEW["content"] in answer.content.decode()
    with full.stage.context():
        stored = Memory.objects.get(content=NEW["content"])
    assert (stored.status, stored.origin, stored.agent_name) == (
        "live",
        "user_explicit",
        full.stage.reviewer.principal.name,
    )


def test_new__said_twice__leads_to_the_one_that_is_known(full: Full, reviewer: Client) -> None:
    reviewer.post(full.at("memories/new/"), NEW)
    again = reviewer.post(full.at("memories/new/"), NEW, follow=True)
    assert "Known already" in again.content.decode()
    with full.stage.context():
        assert Memory.objects.filter(content=NEW["content"]).count() == 1


def test_new__a_value_beside_another__replaces_it_or_waits(full: Full, reviewer: Client) -> None:
    triple = {"content": "", "scope": "user:77", "subject": "user:77", "predicate": "plan"}
    reviewer.post(full.at("memories/new/"), {**triple, "value": "basic"})
    answer = reviewer.post(full.at("memories/new/"), {**triple, "value": "pro"}, follow=True)
    assert "the value before it stays in the history" in answer.content.decode().lower()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"content": "ok"}, "The policy refused it"),
        ({"content": " "}, "give subject, predicate and value"),
        ({"scope": "galaxy:1"}, "galaxy"),
        ({"scope": ""}, "This field is required"),
        ({"ttl": "soon"}, "soon"),
        ({"kind": "no such kind"}, "not one of the available choices"),
        ({"content": "x" * 8001}, "8000"),
    ],
)
def test_new__that_cannot_be__is_shown_again_with_the_reason(
    full: Full, reviewer: Client, sent: dict[str, str], said: str
) -> None:
    with full.stage.context():
        before = Memory.objects.count()
    answer = reviewer.post(full.at("memories/new/"), {**NEW, **sent})
    assert answer.status_code == 422 and said in answer.content.decode()
    with full.stage.context():
        assert Memory.objects.count() == before

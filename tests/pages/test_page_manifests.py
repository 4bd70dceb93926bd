"""Reads for people: what a session was given and why, what was left out, what was used, and who read a memory."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.models import Manifest, Memory
from memory.services.digest import digest_read
from memory.services.policies import policy_activate
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_delete
from memory.services.usage import usage_report
from memory.services.working import WorkingWrite, working_put
from tests.pages.staging import Full, mem, write


def body(browser: Client, full: Full, path: str, **query: str) -> str:
    answer = browser.get(full.at(path), query)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def man(manifest: Manifest) -> str:
    return show_id("man", manifest.id)


def read(full: Full, query: str, **fields: object) -> Manifest:
    return memory_retrieve(full.stage.coder.principal, RetrieveRequest(query, **fields)).manifest  # type: ignore[arg-type]


def test_manifest__says_what_was_given_why_and_what_came_of_it(full: Full, reviewer: Client) -> None:
    write(full.stage.coder, content="The staging cluster is cleared at dawn.", ttl="1d")
    write(full.stage.coder, content="The staging cluster has a yellow gateway too.", tool="probe")
    with clock.moved_to(clock.now() + timedelta(days=2)):
        manifest = read(full, "staging cluster region", session="s-77", tags=("ops",))
        usage_report(full.stage.coder.principal, manifest.id, [full.memory.id])
        page = body(reviewer, full, f"manifests/{man(manifest)}/")
    assert full.memory.content in page and "s-77" in page and "staging cluster region" in page
    assert "Why: " in page and "freshness 0.05" in page
    assert ">Used</span>" in page and "Expired" in page and "ops" in page
    assert "matches what is shown" in page and manifest.block_digest in page
    assert "&lt;memories note=" in page, "the block as the agent got it"


def test_manifest__harm_and_what_was_ignored__are_said(full: Full, reviewer: Client) -> None:
    other = write(full.stage.coder, content="The staging cluster has a yellow gateway too.", tool="probe")
    manifest = read(full, "staging cluster gateway")
    usage_report(full.stage.coder.principal, manifest.id, [], ignored=[other.id], harmful=[full.memory.id])
    page = body(reviewer, full, f"manifests/{man(manifest)}/")
    assert "Did harm" in page and "Ignored" in page
    assert man(manifest)[:17] in body(reviewer, full, "manifests/", report="harmful")
    assert man(full.read)[:17] not in body(reviewer, full, "manifests/", report="harmful")


def test_manifest__erased_and_deleted__shown_as_such(full: Full, reviewer: Client) -> None:
    memory_delete(full.stage.owner.principal, full.memory.id, "no longer so")
    page = body(reviewer, full, f"manifests/{man(full.read)}/")
    assert full.memory.content in page and "Deleted" in page and "was erased since" not in page
    with full.stage.context():
        Memory.objects.filter(id=full.memory.id).update(status="erased", content="")
    page = body(reviewer, full, f"manifests/{man(full.read)}/")
    assert "blue gateway" not in page
    assert "The text was erased" in page and "was erased since" in page and "[erased]" in page


def test_manifest__of_a_digest_and_of_a_working_value__is_shown(full: Full, reviewer: Client) -> None:
    digest = digest_read(full.stage.coder.principal, parse_scope("user:42"), session="s-1").manifest
    working_put(full.stage.coder.principal, "t1", "step_1", WorkingWrite({"halls": 3}))
    manifest = read(full, "", task="t1", keys=("step_1",))
    assert digest is not None
    assert "Digest user:42" in body(reviewer, full, f"manifests/{man(digest)}/")
    page = body(reviewer, full, f"manifests/{man(manifest)}/")
    assert "wrk_" in page and "working" in page and "memories/wrk_" not in page
    assert "Digest of user:42" in body(reviewer, full, "manifests/", kind="digest")


def test_manifest__query_not_kept_by_policy__its_hash_is_shown(full: Full, reviewer: Client) -> None:
    policy_activate(full.stage.owner.principal, {"retention": {"store_query_text": False}}, "less is enough")
    manifest = read(full, "a very private question about the gateway")
    page = body(reviewer, full, f"manifests/{man(manifest)}/")
    assert "private question" not in page and manifest.query_hash[:20] in page
    listed = body(reviewer, full, "manifests/")
    assert "private question" not in listed and "A search without its text" in listed


def test_manifest__what_was_left_out__is_named_where_policy_says_so(full: Full, reviewer: Client) -> None:
    policy_activate(full.stage.owner.principal, {"manifests": {"excluded_ids": "all"}}, "to look into it")
    other = write(full.stage.coder, content="The staging cluster has a yellow gateway too.", tool="probe")
    manifest = read(full, "staging cluster gateway", limit=1)
    page = body(reviewer, full, f"manifests/{man(manifest)}/")
    assert "Beyond the number asked for" in page and "Which" in page
    assert other.content in page and f"memories/{mem(other)}/" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, True),
        ({"session": "s-42"}, True),
        ({"session": "s-4"}, False),
        ({"agent": "{coder}"}, True),
        ({"agent": "{orchestrator}"}, False),
        ({"agent": "agt_nonsense"}, True),
        ({"kind": "retrieve"}, True),
        ({"kind": "digest"}, False),
        ({"kind": "rumour"}, True),
        ({"report": "missing"}, True),
        ({"report": "reported"}, False),
        ({"memory": "{memory}"}, True),
        ({"memory": "{held}"}, False),
        ({"at": "not a cursor"}, True),
    ],
)
def test_list__with_filters__finds_what_matches(
    full: Full, reviewer: Client, query: dict[str, str], found: bool
) -> None:
    names = {
        "{coder}": show_id("agt", full.stage.coder.agent.id), "{memory}": mem(full.memory),
        "{orchestrator}": show_id("agt", full.stage.orchestrator.agent.id), "{held}": mem(full.held),
    }  # fmt: skip
    page = body(
        reviewer, full, "manifests/", **{name: names.get(value, value) for name, value in query.items()}
    )
    assert (f"manifests/{man(full.read)}/" in page) == found


def test_list__past_the_retention__shows_nothing_and_longer_than_a_page_is_walked(
    full: Full, reviewer: Client
) -> None:
    for number in range(55):
        read(full, f"gateway {number}")
    link = re.compile(r'rel="(prev|next)" href="([^"]+)"')
    first = body(reviewer, full, "manifests/")
    pages = dict(link.findall(first))
    second = reviewer.get(pages["next"].replace("&amp;", "&")).content.decode()
    ids = re.compile(r"manifests/(man_[0-9a-f]{32})/")
    assert len(ids.findall(first)) == 50 and not set(ids.findall(first)) & set(ids.findall(second))
    assert man(full.read) in second
    with clock.moved_to(clock.now() + timedelta(days=366)):
        assert ids.findall(body(reviewer, full, "manifests/")) == []
        assert reviewer.get(full.at(f"manifests/{man(full.read)}/")).status_code == 404


def test_memory__who_read_it_and_where_it_was_used(full: Full, reviewer: Client) -> None:
    for session in ("s-1", "s-2"):
        manifest = read(full, "staging cluster region", session=session)
    usage_report(full.stage.coder.principal, manifest.id, [full.memory.id])
    page = body(reviewer, full, f"memories/{mem(full.memory)}/")
    assert "All 3 reads" in page and full.stage.coder.agent.name in page
    assert f"manifests/?memory={mem(full.memory)}" in page
    cells = re.findall(r'data-label="(Given|Sessions|Used|Did harm)">(\d+)<', page)
    assert cells == [("Given", "3"), ("Sessions", "3"), ("Used", "1"), ("Did harm", "0")]


def test_audit__a_report_of_use__leads_to_the_manifest(full: Full, reviewer: Client) -> None:
    usage_report(full.stage.coder.principal, full.read.id, [full.memory.id])
    page = body(reviewer, full, "audit/", action="manifest.used")
    assert f"manifests/{man(full.read)}/" in page
    assert f"q={man(full.read)}" in body(reviewer, full, f"manifests/{man(full.read)}/")

"""Reading: what is returned, what never is, and the manifest of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import override_settings

from memgov import clock
from memory.domain.injection import BLOCK_FORMATS, BlockFormat, text_sha256
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.domain.tokens import count_tokens
from memory.models import Manifest, ManifestEntry, Memory
from memory.services.digest import digest_read
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.recall import Retrieval, RetrieveRequest, memory_retrieve
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tenants.principals import Principal
from tests.factories import Stage, make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")

FACTS = (
    "Refunds above 50 euros need a second approval.",
    "The kiln in hall two needs nine hours to cool down.",
    "Error GLW-2207 of glow-api means that the paper roll number is missing.",
)


@pytest.fixture
def stage(database: None) -> Stage:
    stage = make_tenant()
    for content in FACTS:
        write(stage.coder.principal, content)
    return stage


def write(principal: Principal, content: str, **fields: object) -> Memory:
    fields.setdefault("scope", "project:alpha")
    fields.setdefault("origin", "tool_verified")
    outcome = memory_write(principal, WriteRequest(content=content, **fields))  # type: ignore[arg-type]
    assert outcome.memory is not None, outcome
    return outcome.memory


def retrieve(stage: Stage, query: str, **fields: object) -> Retrieval:
    return memory_retrieve(stage.coder.principal, RetrieveRequest(query=query, **fields))  # type: ignore[arg-type]


def contents(found: Retrieval) -> list[str]:
    return [entry.found.content for entry in found.entries]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("second approval for refunds", FACTS[0]),
        ("how long does the kiln cool", FACTS[1]),
        ("GLW-2207", FACTS[2]),
    ],
)
def test_retrieve__question__best_match_first(stage: Stage, query: str, best: str) -> None:
    assert contents(retrieve(stage, query))[0] == best


def test_retrieve__no_good_match__nothing_rather_than_noise(stage: Stage) -> None:
    assert contents(retrieve(stage, "zebra quantum")) == []


def test_retrieve__manifest__says_what_was_given_and_left_out(stage: Stage) -> None:
    write(stage.coder.principal, "Refunds of torn lanterns are paid at once.", ttl="1d")
    with clock.moved_to(clock.now() + timedelta(days=2)):
        found = retrieve(stage, "refunds", session="s9", limit=1)
    assert found.excluded["expired"] == 1
    with stage.context():
        manifest = Manifest.objects.get(id=found.manifest.id)
        entry = ManifestEntry.objects.get(manifest_id=manifest.id)
        assert (entry.rank, entry.version, entry.scope) == (1, 1, "project:alpha")
        assert (manifest.session, manifest.query_text, manifest.policy_version) == ("s9", "refunds", 1)
        assert manifest.block_digest == text_sha256(found.block)
        assert manifest.excluded == found.excluded


def test_retrieve__other_scopes__not_seen_and_not_counted(stage: Stage) -> None:
    write(stage.orchestrator.principal, "Refunds of the harbour crew are secret.", scope="project:beta")
    write(stage.orchestrator.principal, "Refunds of my session are secret.", session="s1", scope="session:s1")
    found = retrieve(stage, "refunds secret", session="s1")
    assert contents(found) == [FACTS[0]]
    assert "secret" not in str(found.excluded)
    mine = memory_retrieve(
        stage.orchestrator.principal, RetrieveRequest(query="refunds secret", session="s1")
    )
    assert len(mine.entries) == 3, "positive control: whoever may read it finds it"


def test_retrieve__applies_to__only_where_it_matches(stage: Stage) -> None:
    write(stage.coder.principal, "Refund code has its own lint rules.", paths=["shop/refunds/*.py"])
    write(stage.coder.principal, "Refund texts are checked by the desk.", tags=["copy"])
    assert contents(retrieve(stage, "refund")) == [FACTS[0]]
    assert "Refund code has its own lint rules." in contents(
        retrieve(stage, "refund", paths=["shop/refunds/pay.py"])
    )
    assert "Refund texts are checked by the desk." in contents(retrieve(stage, "refund", tags=["copy"]))
    assert "Refund code has its own lint rules." not in contents(
        retrieve(stage, "refund", paths=["shop/x/pay.py"])
    )


def test_retrieve__limits__entries_and_tokens_bounded(stage: Stage) -> None:
    found = retrieve(stage, "refunds kiln error", limit=2)
    assert len(found.entries) == 2 and found.excluded["limit"] == 1
    assert contents(retrieve(stage, "refunds kiln error", max_tokens=1)) == []


@pytest.mark.parametrize("form", BLOCK_FORMATS)
def test_retrieve__max_tokens__bounds_the_whole_block(stage: Stage, form: BlockFormat) -> None:
    write(stage.coder.principal, 'Refund texts: "<b>Gut & günstig</b>"\n```sh\nrefund\n``` 返金の手順。')
    asked = "refunds kiln error"
    whole = retrieve(stage, asked, format=form)
    costs = [
        retrieve(stage, asked, format=form, limit=count).manifest.tokens
        for count in range(1, 1 + len(FACTS) + 1)
    ]
    assert costs[-1] == count_tokens(whole.block) and costs == sorted(set(costs))
    for count, tokens in enumerate(costs, 1):
        just = retrieve(stage, asked, format=form, max_tokens=tokens)
        assert len(just.entries) >= count and count_tokens(just.block) <= tokens
        short = retrieve(stage, asked, format=form, max_tokens=tokens - 1)
        assert count_tokens(short.block) == short.manifest.tokens < tokens
        assert short.excluded["token_budget"] == len(costs) - len(short.entries)
    assert costs[0] > count_tokens(whole.entries[0].found.content), "labels and frame are part of it"


def test_retrieve__german_text__is_found_by_its_words_stems_and_parts(stage: Stage) -> None:
    depot = write(stage.coder.principal, "Die Lieferungen gehen in das Zwischenlager am Hafen.").content
    for query in ("Wohin gehen die Lieferungen?", "Wo ist das Lager?"):
        found = retrieve(stage, query)
        assert contents(found)[0] == depot and found.entries[0].parts["text"] > 0, query
    assert all("text" not in entry.parts for entry in retrieve(stage, "Lieferung").entries)
    german = Policy.model_validate({"retrieval": {"languages": ["de"]}})
    policy_activate(stage.owner.principal, german, "The desk in Bremen asks in German.")
    assert retrieve(stage, "Lieferung").entries[0].parts["text"] > 0, "too short to show its language"


def test_retrieve__high_stakes__no_contested_and_no_low_trust(stage: Stage) -> None:
    write(stage.coder.principal, "Refunds were mentioned in the tool's log.", origin="tool_output")
    claim = {
        "subject": "desk:refunds",
        "predicate": "region",
        "origin": "tool_verified",
        "scope": "project:alpha",
    }
    for principal, value in (
        (stage.coder.principal, "north-cove"),
        (stage.orchestrator.principal, "south-cove"),
    ):
        memory_write(principal, WriteRequest(value=value, **claim))  # type: ignore[arg-type]
    assert len(retrieve(stage, "refunds desk region log").entries) == 4
    careful = retrieve(stage, "refunds desk region log", high_stakes=True)
    assert contents(careful) == [FACTS[0]]
    assert (careful.excluded["low_trust"], careful.excluded["contested"]) == (1, 2)


@override_settings(MEMGOV_EMBEDDER="none")
def test_retrieve__without_embedder__finds_by_text_and_says_so(stage: Stage) -> None:
    write(stage.coder.principal, "The dusk gateway is drained before a release.")
    found = retrieve(stage, "draining the gateway")
    assert found.text_only
    assert contents(found) == ["The dusk gateway is drained before a release."]


def test_retrieve__read_again_and_again__freshness_does_not_move(stage: Stage) -> None:
    with stage.context():
        before = list(Memory.objects.order_by("id").values())
    for _ in range(3):
        retrieve(stage, "refunds")
    with stage.context():
        assert list(Memory.objects.order_by("id").values()) == before


def test_usage__reported_twice__counts_once(stage: Stage) -> None:
    found = retrieve(stage, "refunds")
    ids = [found.entries[0].found.id]
    first = usage_report(stage.coder.principal, found.manifest.id, ids)
    again = usage_report(stage.coder.principal, found.manifest.id, ids)
    assert (first.newly_used, again.newly_used, again.used) == (1, 0, 1)
    with stage.context():
        assert Memory.objects.get(id=ids[0]).use_count == 1


def test_usage__not_the_reader_or_too_late_or_not_given__refused(stage: Stage) -> None:
    found = retrieve(stage, "refunds")
    ids = [found.entries[0].found.id]
    with pytest.raises(NotFound):
        usage_report(make_agent(stage.tenant, "coder").principal, found.manifest.id, ids)
    other = write(stage.coder.principal, "The red dye needs two hours to dry.")
    with pytest.raises(Invalid):
        usage_report(stage.coder.principal, found.manifest.id, [other.id])
    with clock.moved_to(clock.now() + timedelta(days=8)), pytest.raises(Conflict):
        usage_report(stage.coder.principal, found.manifest.id, ids)
    with stage.context():
        assert Memory.objects.get(id=ids[0]).use_count == 0


def test_echo__session_writes_back_what_it_was_shown__counts_for_nothing(stage: Stage) -> None:
    found = retrieve(stage, "refunds", session="s7")
    assert contents(found)[0] == FACTS[0]
    request = WriteRequest(content=FACTS[0], scope="project:alpha", origin="tool_verified", session="s7")
    with stage.context():
        before = Memory.objects.get(id=found.entries[0].found.id)
    echoed = memory_write(stage.coder.principal, request)
    assert echoed.outcome == "echo"
    with stage.context():
        after = Memory.objects.get(id=before.id)
        assert (after.learned_at, after.reproductions) == (before.learned_at, before.reproductions)


def test_digest__changes_with_memory__and_keeps_its_etag_otherwise(stage: Stage) -> None:
    scope = parse_scope("project:alpha")
    first = digest_read(stage.coder.principal, scope)
    again = digest_read(stage.coder.principal, scope, have=first.etag)
    assert again.manifest is None and again.etag == first.etag
    write(stage.coder.principal, "The red dye needs two hours to dry.")
    changed = digest_read(stage.coder.principal, scope, have=first.etag)
    assert changed.manifest is not None and "red dye" in changed.digest.text
    with pytest.raises(NotFound):
        digest_read(stage.coder.principal, parse_scope("project:beta"))


def test_retrieve__scope_with_limits_of_age_of_its_own__the_band_is_that_of_its_scope(database: None) -> None:
    young = {"freshness": {"bands": {"fact": {"fresh_days": 1, "aging_days": 2}}}}
    stage = make_tenant(policy=Policy.model_validate({"scopes": {"project:alpha": young}}))
    here = write(stage.coder.principal, FACTS[0])
    there = write(
        stage.coder.principal, "Refunds of the kiln desk need no approval.", scope="session:s1", session="s1"
    )
    with clock.moved_to(clock.now() + timedelta(hours=36)):
        entries = retrieve(stage, "refunds approval", session="s1").entries
    assert {one.found.id: one.band.value for one in entries} == {here.id: "aging", there.id: "fresh"}

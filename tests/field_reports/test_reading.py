"""Faults that users of other stores reported about reading, each as a test that no other test states as such."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from memgov import clock
from memory.models import Contradiction, Memory, MemoryIndex
from memory.services import memory_write as write_path
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin, memory_verify
from memory.services.write_types import WriteRequest
from memory.store.vectors import Vector
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")

TEXT = "The kiln of hall two needs nine hours to cool down."


def ask(caller: Caller, query: str = "how long does the kiln cool", **fields: Any) -> dict[str, Any]:
    response = caller.post("retrieve", {"query": query, **fields})
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def test_isolation__same_key_in_two_tenants__two_rows(stage: Stage, coder: Caller) -> None:
    first = coder.know("acme", "plan", "enterprise")
    second = Caller(make_tenant().coder).know("acme", "plan", "starter")
    assert first["id"] != second["id"]
    assert coder.get(f"memories/{first['id']}").json()["value"] == "enterprise"


def test_isolation__agent_writes_for_a_person__the_persons_next_session_finds_it(stage: Stage) -> None:
    Caller(stage.coder).remember("Prefers window seats on night trains.", scope="user:dana", session="s1")
    later = Caller(make_agent(stage.tenant, "concierge", ["user:dana=r"]))
    found = ask(later, "which seats on night trains", session="s2")
    [entry] = found["entries"]
    assert entry["source"] == stage.coder.agent.name, "who wrote it is told, whoever asks"


def test_isolation__two_agents__each_sees_its_own_and_what_is_shared(stage: Stage) -> None:
    Caller(stage.orchestrator).remember("The kiln is shared by all halls.", scope="shared")
    mine = Caller(make_agent(stage.tenant, "potter", []))
    yours = Caller(make_agent(stage.tenant, "dyer", []))
    mine.remember("The kiln of the potter is blue.", scope="agent:potter")
    yours.remember("The kiln of the dyer is red.", scope="agent:dyer")
    assert {entry["scope"] for entry in ask(mine, "kiln")["entries"]} == {"shared", "agent:potter"}
    assert {entry["scope"] for entry in ask(yours, "kiln")["entries"]} == {"shared", "agent:dyer"}


def test_isolation__merging_and_contradicting__never_across_tenants(stage: Stage) -> None:
    stages = [stage, make_tenant()]
    for one, region in zip(stages, ("north-cove", "south-cove"), strict=True):
        Caller(one.coder).know("service:press", "region", region)
        Caller(one.coder).remember(TEXT)
    for one in stages:
        with one.context():
            assert Counter(Memory.objects.values_list("status", flat=True)) == {"live": 2}
            assert not Contradiction.objects.exists()


def test_isolation__failed_write__the_next_read_falls_back_to_nobody(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    Caller(stage.orchestrator).remember("The kiln of user zero is in the cellar.", scope="user:0")
    reader = Caller(make_agent(stage.tenant, "clerk", ["user:1=rw"]))
    with monkeypatch.context() as patch:
        patch.setattr(write_path, "conclude", None)  # whatever fails behind admission
        failed = reader.post("memories", {"content": TEXT, "scope": "user:1", "origin": "user_explicit"})
    assert failed.status_code == 500
    assert ask(reader, "kiln")["entries"] == []
    assert (
        reader.post("memories", {"content": TEXT, "scope": "user:1", "origin": "user_explicit"}).status_code
        == 201
    )
    assert [entry["scope"] for entry in ask(reader, "kiln")["entries"]] == ["user:1"]


def test_isolation__no_key_that_names_no_tenant__opens_nothing(coder: Caller) -> None:
    for header in ("", "Bearer ", "Bearer root", "Bearer mgk_admin", "Basic YWRtaW46YWRtaW4="):
        response = Caller(None).post("retrieve", {"query": "kiln"}, Authorization=header)
        assert response.status_code == 401


def test_trace__candidate_scores__only_when_asked_for(coder: Caller) -> None:
    coder.remember(TEXT)
    assert "explanation" not in ask(coder)["entries"][0]
    score = ask(coder, explain=True)["entries"][0]["explanation"]["score"]
    assert {"text", "vector"} <= score.keys() and score.keys() <= {
        "text", "vector", "neighbours", "scope", "freshness", "trust", "pin",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("days", "band"), [(0, "fresh"), (30, "fresh"), (30.01, "aging"), (90, "aging"), (90.01, "outdated")]
)
def test_freshness__every_entry_shows_its_age_and_band(coder: Caller, days: float, band: str) -> None:
    memory = coder.remember(TEXT)
    learned = clock.now()
    with clock.moved_to(learned + timedelta(days=days) - timedelta(seconds=1)):
        found = ask(coder)
    [entry] = found["entries"]
    assert entry["band"] == band and entry["learned_at"] == memory["learned_at"]
    assert f'band="{band}"' in found["block"] and 'recorded_at="' in found["block"]


def test_freshness__read_fifty_times__still_old__verified__fresh(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)
    with clock.moved_to(clock.now() + timedelta(days=60)):
        for _ in range(50):
            assert ask(coder)["entries"][0]["band"] == "aging"
        memory_verify(stage.reviewer.principal, as_uuid(memory["id"]))
        assert ask(coder)["entries"][0]["band"] == "fresh"
    with stage.context():
        assert Memory.objects.get().use_count == 0, "to be given something is not to use it"


def test_pagination__nonsense__is_400_and_never_500(coder: Caller) -> None:
    for query in ("page=0", "page=99999", "page_size=0", "page_size=-1", "page_size=1000000000", "limit=5000",
                  "offest=1", "cursor=nonsense"):  # fmt: skip
        response = coder.get(f"memories?{query}")
        assert_problem(response, 400, response.json()["code"])


def test_pagination__walked_while_others_write__every_row_exactly_once(stage: Stage, coder: Caller) -> None:
    for start in range(0, 300, 100):
        items = [
            {"content": f"Shelf {n} of the store holds {n * 7 + 3} boxes of paper.", "scope": f"user:{n % 3}",
             "origin": "tool_verified"} for n in range(start, start + 100)
        ]  # fmt: skip
        assert all(
            one["status"] == 201 for one in coder.post("memories/batch", {"items": items}).json()["results"]
        )
    with stage.context():
        original = {f"mem_{one.hex}" for one in Memory.objects.values_list("id", flat=True)}
    seen: list[str] = []
    path = "memories?page_size=20&fields=id"
    while path:
        page = coder.get(path).json()
        seen += [row["id"] for row in page["results"]]
        coder.remember(f"Rack {len(seen)} of the annex holds {len(seen) + 5} rolls of wire.", scope="user:9")
        path = page["next"] and page["next"].split("/api/v1/", 1)[1]
    assert len(original) == 300
    assert {one: count for one, count in Counter(seen).items() if one in original} == dict.fromkeys(
        original, 1
    )


def test_embedding__another_model__writes_go_on_and_words_find(stage: Stage, coder: Caller) -> None:
    old = coder.remember(TEXT)
    with stage.context():
        MemoryIndex.objects.update(model_id="another-model@1")
    coder.remember("The press of hall three needs oil every Friday.")
    assert ask(coder)["entries"][0]["id"] == old["id"]
    [entry] = ask(coder, explain=True, limit=1)["entries"]
    assert "vector" not in entry["explanation"]["score"], "vectors of different models are not compared"


@override_settings(MEMGOV_EMBEDDER="none")
def test_embedding__embedder_down__state_changes_and_reads_go_on(stage: Stage, coder: Caller) -> None:
    memory = coder.remember(TEXT)
    memory_pin(stage.reviewer.principal, as_uuid(memory["id"]), "asked for often")
    found = ask(coder)
    assert found["search"] == "text" and [entry["id"] for entry in found["entries"]] == [memory["id"]]
    assert coder.delete(f"memories/{memory['id']}?reason=old").status_code == 200


def test_embedding__vector_of_another_size__refused_by_the_database_not_stored(stage: Stage) -> None:
    request = WriteRequest(content=TEXT, scope="project:alpha", origin="tool_verified")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_path, "vector_of", lambda text: Vector([0.1] * 768, "wide@1"))
        with pytest.raises(Exception, match="expected 384 dimensions"):
            memory_write(stage.coder.principal, request)
    assert memory_write(stage.coder.principal, request).outcome == "stored"
    found = memory_retrieve(stage.coder.principal, RetrieveRequest(query="kiln"))
    assert len(found.entries) == 1


def test_provenance__how_it_was_learned__is_told_with_every_entry(coder: Caller) -> None:
    memory = coder.remember(TEXT, tool="netscan", session="s1", input_hash="sha256:1")
    shown = coder.get(f"memories/{memory['id']}").json()
    [entry] = ask(coder)["entries"]
    assert entry["source"].endswith("/netscan") and entry["origin"] == "user_explicit"
    assert (shown["tool"], shown["session"], shown["input_hash"]) == ("netscan", "s1", "sha256:1")

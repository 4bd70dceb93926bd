"""Where a reader may see more than is looked at row by row: what indexes choose, against looking at everything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from memgov import clock
from memory.domain.policy import preset
from memory.domain.text import query_terms
from memory.models import MemoryIndex
from memory.selectors import candidates, candidates_many
from memory.selectors.recall import Filters, search
from memory.selectors.visibility import reach_of
from memory.services.embedding import vector_of
from memory.services.memory_write import memory_write
from memory.services.recall import Retrieval, RetrieveRequest, memory_retrieve
from memory.services.write_types import WriteRequest
from memory.store import search_index
from tests.factories import Stage, make_agent, make_tenant
from tests.statements import statements
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")

THINGS = tuple(
    "lantern kiln gateway ledger paper roll hall press dye harbour mill crane refund invoice".split()
)
QUERIES = ("where is the kiln", "harbour crane", "paper roll of hall 7", "refund", "invoice number 31")


@pytest.fixture(scope="module", params=[0, 60, 120], ids=["none-fed", "half-fed", "all-fed"])
def stage(database: None, request: pytest.FixtureRequest) -> Stage:
    """120 memories, of which the vector index holds none, half or all."""
    stage = make_tenant(policy=preset("open"))
    for number in range(120):
        first, second = THINGS[number % 14], THINGS[(number * 5 + 3) % 14]
        content = f"The {first} of hall {number} stands beside {second} number {number % 37}."
        scope = ("project:alpha", "project:beta", "user:1")[number % 3]
        offered = WriteRequest(content=content, scope=scope, origin="user_explicit")
        assert memory_write(stage.orchestrator.principal, offered).outcome == "stored"
    with stage.context():
        assert search_index.settle(request.param) == request.param
    return stage


def read(stage: Stage, query: str, **fields: Any) -> Retrieval:
    return memory_retrieve(stage.orchestrator.principal, RetrieveRequest(query=query, **fields))


@pytest.mark.parametrize("query", QUERIES)
def test_many__chosen_by_indexes__the_same_come_first(
    stage: Stage, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = read(stage, query, limit=5)
    monkeypatch.setattr(candidates, "MOST_EXACT", 50)
    monkeypatch.setattr(candidates_many, "NEAREST", 40)
    monkeypatch.setattr(candidates_many, "candidates_of_all", None)  # the indexes have to be enough
    many = read(stage, query, limit=5)
    assert many.entries and many.entries[0].found.id == exact.entries[0].found.id
    shared = {one.found.id for one in many.entries} & {one.found.id for one in exact.entries}
    assert len(shared) >= 4


def test_many__reader_of_one_scope__gets_nothing_else(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_EXACT", 20)
    monkeypatch.setattr(candidates_many, "NEAREST", 20)
    clerk = make_agent(stage.tenant, "clerk", ["user:1=r"])
    for query in QUERIES:
        found = memory_retrieve(clerk.principal, RetrieveRequest(query=query, limit=50))
        assert {entry.found.scope for entry in found.entries} == {"user:1"}
    assert {entry.found.scope for entry in read(stage, QUERIES[0], limit=50).entries} > {"user:1"}


@pytest.fixture(scope="module")
def large(database: None) -> Plot:
    """A tenant with more than is looked at row by row, hardly any of it with a vector."""
    plot = Plot()
    for number in range(4):
        plot.plant(1500, scope=f"project:p{number}")
    request = WriteRequest(
        content="The kiln of hall nine stands by the harbour.", scope="user:9", origin="user_explicit"
    )
    assert memory_write(plot.stage.orchestrator.principal, request).outcome == "stored"
    with plot.stage.context():
        MemoryIndex.objects.update(settled=True)  # as if all had been fed
    return plot


def test_many__vector_index_gives_up__every_row_is_looked_at(large: Plot) -> None:
    found = read(large.stage, "kiln by the harbour")
    assert [entry.found.content for entry in found.entries] == [
        "The kiln of hall nine stands by the harbour."
    ]
    assert found.excluded == {"below_similarity": 6000}


@override_settings(MEMGOV_EMBEDDER="none")
def test_many__words_alone__found_by_the_index_of_terms(large: Plot) -> None:
    with CaptureQueriesContext(connection) as captured:
        found = read(large.stage, "kiln by the harbour")
    assert [entry.found.content for entry in found.entries] == [
        "The kiln of hall nine stands by the harbour."
    ]
    assert found.text_only and any(
        "candidates_of_many" in query["sql"] for query in captured.captured_queries
    )


@pytest.mark.parametrize("planned", ["force_custom_plan", "force_generic_plan"])
def test_plan__of_a_search_in_a_large_tenant__one_partition_by_its_index(large: Plot, planned: str) -> None:
    with large.stage.context():
        vector = vector_of("where is the kiln")
        assert vector is not None
        filters = Filters(
            terms=query_terms("where is the kiln"), vector=vector.values, now=clock.now(), min_trust=0.0, limit=10,
            model_id=vector.model_id, only_scopes=["user:9"], neighbour_layers=("episodic",),
        )  # fmt: skip
        with CaptureQueriesContext(connection) as captured:
            search(reach_of(large.stage.orchestrator.principal), filters, preset("default").retrieval)
        [sql] = statements(captured)
        with connection.cursor() as cursor:
            # After some calls the server may do either.
            cursor.execute(f"SET LOCAL plan_cache_mode = {planned}")
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
            plan = cursor.fetchone()[0]
        tenant = MemoryIndex.objects.count()
    scans = list(nodes(json.loads(plan) if isinstance(plan, str) else plan))
    read_tables = {node["Relation Name"]: node["Node Type"] for node in scans if "Relation Name" in node}
    partitions = [name for name in read_tables if name.startswith("memory_index_")]
    assert tenant > candidates.MOST_EXACT and len(partitions) == 1
    assert read_tables[partitions[0]] in ("Index Scan", "Bitmap Heap Scan")
    # Of the memories only what has waited for its beginning is looked for, by an index that holds nothing else.
    assert "memory_waiting" in {node.get("Index Name") for node in scans}
    ways = {node["Node Type"] for node in scans if node.get("Relation Name") == "memory_memory"}
    assert ways <= {"Index Scan", "Bitmap Heap Scan"}


def nodes(plan: Any) -> Any:
    if isinstance(plan, list):
        for one in plan:
            yield from nodes(one.get("Plan", one))
        return
    yield plan
    yield from nodes(plan.get("Plans", []))

"""The search index repeats what its memory says, whatever changed the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection

from memgov import clock
from memory.domain.text import query_terms, terms
from memory.models import Memory, MemoryIndex
from memory.selectors.candidates import Filters, candidates
from memory.selectors.visibility import reach_of
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.retention import memory_delete, memory_restore, memory_verify
from memory.services.write_types import WriteRequest
from tests.factories import Stage, make_agent, make_tenant
from tests.search_index import out_of_step

pytestmark = pytest.mark.usefixtures("database")

TEXT = "The kiln in hall two needs nine hours to cool down."


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def put(stage: Stage, **fields: object) -> Memory:
    request = WriteRequest(
        content=TEXT,
        scope="project:alpha",
        origin="tool_verified",
        session="s1",
        **fields,  # type: ignore[arg-type]
    )
    memory = memory_write(stage.coder.principal, request).memory
    assert memory is not None
    return memory


def edit(stage: Stage, memory: Memory) -> None:
    fields = {"paths": ["halls/*"], "tags": ["kiln"], "kind": "procedure", "layer": "procedural", "ttl": "2w"}
    memory_edit(stage.coder.principal, memory.id, fields, version=1)


def reword(stage: Stage, memory: Memory) -> None:
    memory_edit(stage.coder.principal, memory.id, {"content": TEXT.replace("nine", "ten")}, version=1)


def confirm(stage: Stage, memory: Memory) -> None:
    with clock.moved_to(clock.now() + timedelta(days=3)):
        memory_write(
            make_agent(stage.tenant, "tester", ["project:alpha=rw"]).principal,
            WriteRequest(content=TEXT, scope="project:alpha", origin="user_explicit", session="s2"),
        )


def verify(stage: Stage, memory: Memory) -> None:
    with clock.moved_to(clock.now() + timedelta(days=3)):
        memory_verify(stage.reviewer.principal, memory.id)


def remove_and_restore(stage: Stage, memory: Memory) -> None:
    memory_delete(stage.owner.principal, memory.id, "by mistake")
    with stage.context():
        assert not MemoryIndex.objects.exists()
    memory_restore(stage.owner.principal, memory.id, "it was right")


@pytest.mark.parametrize("happens", [edit, reword, confirm, verify, remove_and_restore])
def test_index__whatever_happens_to_the_memory__repeats_it(
    stage: Stage, happens: Callable[[Stage, Memory], None]
) -> None:
    memory = put(stage)
    with stage.context():
        before = Memory.objects.values().get()
    assert out_of_step(stage) == []
    happens(stage, memory)
    with stage.context():
        assert Memory.objects.values().get() != before, "positive control: something did happen"
        assert MemoryIndex.objects.count() == 1
    assert out_of_step(stage) == []


def test_out_of_step__a_change_beside_the_store__is_seen(stage: Stage) -> None:
    put(stage)
    with stage.context():
        Memory.objects.update(trust=0.1)
    assert len(out_of_step(stage)) == 1


@pytest.mark.parametrize(
    "text", ["paper roll paper PAPER paper", "GLW-2207 in src/glow/api.py, 25MB", "日本語のテキスト", "", "mill " * 40]
)  # fmt: skip
def test_terms__as_the_database_counts_them__are_those_of_the_domain(stage: Stage, text: str) -> None:
    found = terms(text)
    with connection.cursor() as cursor:
        cursor.execute("SELECT memgov.term_vector(%s::text[])::text", [found])
        told = cursor.fetchone()[0].partition("/")[0].strip("{}")
    times = [int(part.partition(":")[2]) for part in told.split(",") if part]
    assert sorted(times) == sorted(min(7, count) for count in Counter(found).values())


def test_counts__of_more_terms_than_one_product_holds__are_exact(stage: Stage) -> None:
    content = "Mill one one one grinds wheat, rye, barley, oats, spelt, maize, millet, rice and rice and rye and rye."
    request = WriteRequest(content=content, scope="project:alpha", origin="tool_verified")
    assert memory_write(stage.coder.principal, request).outcome == "stored"
    asked = query_terms("rye mill zebra wheat barley oats spelt maize millet rice unicorn grinds one")
    filters = Filters(terms=asked, vector=None, now=clock.now(), min_trust=0.0, limit=10)
    with stage.context():
        found = candidates(reach_of(stage.coder.principal), filters)
    assert found is not None
    stored = terms(content)
    assert found.counts.tolist() == [[stored.count(term) for term in asked]]
    assert found.term_count.tolist() == [len(stored)]

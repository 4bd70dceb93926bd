"""The blast radius: what a seed wrote, what came of it at any depth, and who was given it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from memgov import clock
from memory.domain.blast import BadSeed, Seed, parse_seed
from memory.domain.ids import show_id
from memory.models import Memory
from memory.selectors import blast
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tests.factories import Machine, Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")
HOUR = timedelta(hours=1)


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(machine: Machine, content: str, *sources: Memory, **fields: Any) -> Memory:
    request = WriteRequest(
        content=content, derived_from=[one.id for one in sources],
        **{"scope": "project:alpha", "origin": "tool_verified", **fields},
    )  # fmt: skip
    outcome = memory_write(machine.principal, request)
    assert outcome.memory is not None, outcome
    return outcome.memory


def reach(stage: Stage, **given: Any) -> tuple[set[UUID], set[UUID]]:
    """Ids of what was written and of what was derived."""
    with stage.context():
        rows = blast.entries(Seed(**given), clock.now(), most=1000)
        counts = blast.counts(Seed(**given), clock.now())
    written = {row.id for row in rows if row.written}
    derived = {row.id for row in rows if not row.written}
    assert (counts.written, counts.derived) == (len(written), len(derived))
    return written, derived


def test_reach__from_a_memory__is_what_was_derived_from_it_at_any_depth(stage: Stage) -> None:
    first = write(stage.coder, "Mill four delivers paper on Mondays.")
    second = write(stage.coder, "The press halls open at seven.", first)
    third = write(stage.orchestrator, "The archive of the harbour is in the north wing.", second)
    write(stage.coder, "Invoices are signed by two people from accounting.")
    assert reach(stage, memory=first.id) == ({first.id}, {second.id, third.id})
    assert reach(stage, memory=third.id) == ({third.id}, set())


def test_reach__memories_that_name_each_other__end(stage: Stage) -> None:
    first = write(stage.coder, "Mill four delivers paper on Mondays.")
    second = write(stage.coder, "The press halls open at seven.", first)
    with stage.context():
        Memory.objects.filter(id=first.id).update(derived_from=[second.id, first.id])
    assert reach(stage, memory=first.id) == ({first.id}, {second.id})


def test_reach__agent_key_session_tool_source_time__each_find_their_own(stage: Stage) -> None:
    mine = write(stage.coder, "Mill four delivers paper on Mondays.", session="s1", tool="cam")
    plain = write(stage.coder, "The press halls open at seven.", session="s2")
    other = write(
        stage.orchestrator, "The archive of the harbour is in the north wing.", session="s1", tool="cam"
    )
    derived = write(stage.orchestrator, "Deliveries of paper wait in the yard until noon.", mine)
    name = stage.coder.agent.name
    assert reach(stage, agent=stage.coder.agent.id) == ({mine.id, plain.id}, {derived.id})
    assert reach(stage, key=stage.coder.key.id) == ({mine.id, plain.id}, {derived.id})
    assert reach(stage, key=uuid4()) == (set(), set())
    assert reach(stage, session="s1") == ({mine.id, other.id}, {derived.id})
    assert reach(stage, tool="cam") == ({mine.id, other.id}, {derived.id})
    assert reach(stage, source=f"{name}/cam") == ({mine.id}, {derived.id})
    assert reach(stage, source=name) == ({plain.id}, set())
    assert reach(stage, agent=stage.coder.agent.id, session="s1") == ({mine.id}, {derived.id})
    span = {"since": mine.recorded_at, "until": plain.recorded_at}
    assert reach(stage, **span) == ({mine.id, plain.id}, {derived.id})
    assert reach(stage, until=mine.recorded_at - HOUR) == (set(), set())


def test_reach__after_the_look__what_came_later_is_not_in_it(stage: Stage) -> None:
    first = write(stage.coder, "Mill four delivers paper on Mondays.")
    seen = clock.now()
    write(stage.coder, "The press halls open at seven.", first)
    with stage.context():
        assert blast.counts(Seed(agent=stage.coder.agent.id), seen).total == 1
        assert blast.counts(Seed(agent=stage.coder.agent.id), clock.now()).total == 2


def test_readers__manifests_agents_and_sessions__are_those_that_were_given_it(stage: Stage) -> None:
    poisoned = write(stage.coder, "Mill four delivers paper on Mondays.")
    write(stage.coder, "The press halls open at seven.")
    for session in ("s1", "s2"):
        asked = RetrieveRequest(query="When does mill four deliver paper?", session=session)
        found = memory_retrieve(stage.orchestrator.principal, asked)
        assert poisoned.id in {one.found.id for one in found.entries}
    usage_report(stage.orchestrator.principal, found.manifest.id, [poisoned.id])
    memory_pin(stage.reviewer.principal, poisoned.id, "looks right")
    seed = Seed(memory=poisoned.id)
    with stage.context():
        readers = blast.readers(seed, clock.now(), clock.now() - 24 * HOUR)
        decided, total = blast.decisions(seed, clock.now())
        nobody = blast.readers(seed, clock.now(), clock.now() + HOUR)
    assert (readers.manifests, readers.agents, readers.sessions) == (2, 1, 2)
    assert [(one.name, one.count, one.used) for one in readers.by_agent] == [
        (stage.orchestrator.agent.name, 2, 1)
    ]
    assert {one.key for one in readers.by_session} == {"s1", "s2"}
    assert readers.latest[0].key == str(found.manifest.id)
    assert (nobody.manifests, nobody.agents, nobody.latest) == (0, 0, [])
    assert (total, decided[0].action, decided[0].actor) == (1, "memory.pinned", stage.reviewer.principal.name)


def test_reach__another_tenants_seed__finds_nothing(stage: Stage) -> None:
    memory = write(stage.coder, "Mill four delivers paper on Mondays.", session="s1")
    other = make_tenant()
    assert reach(other, memory=memory.id) == (set(), set())
    assert reach(other, session="s1") == (set(), set())
    assert reach(other, key=stage.coder.key.id) == (set(), set())


def test_seed__as_text__reads_back_the_same(stage: Stage) -> None:
    seed = Seed(memory=uuid4(), agent=uuid4(), key=uuid4(), session="s 1", tool="t", source="a/t",
                since=clock.now(), until=clock.now())  # fmt: skip
    assert parse_seed(seed.as_text()) == seed
    assert parse_seed({"since": "2030-01-02", "until": "2030-01-02"}).as_text() == {
        "since": "2030-01-02T00:00:00+00:00", "until": "2030-01-02T23:59:59.999999+00:00",
    }  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [{"memory": "mem_1"}, {"agent": show_id("mem", uuid4())}, {"since": "yesterday"}, {"until": "2030-01-02T09:00"},
     {"session": "x" * 301}],
)  # fmt: skip
def test_seed__that_cannot_be_read__names_its_field(given: dict[str, str]) -> None:
    with pytest.raises(BadSeed) as error:
        parse_seed(given)
    assert error.value.field == next(iter(given))

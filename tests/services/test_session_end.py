"""The end of a session: what it offers to its role."""

from __future__ import annotations

from functools import partial

import pytest

from memory.models import AuditEvent, Memory
from memory.services.errors import NotFound
from memory.services.session_end import session_end
from tests.factories import Stage, make_agent, make_tenant
from tests.parallel import at_once
from tests.services.doing_tasks import write

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def test_session_end__offers_its_memories_to_the_role__counts_by_outcome(stage: Stage) -> None:
    write(stage, "The green dye needs four hours to dry.", scope="agent:coder")
    for content in ("The red dye needs two hours to dry.", "The green dye needs four hours to dry."):
        write(stage, content, scope=None, session="s1")
    write(stage, "The blue dye fades in the sun.", scope=None, session="s1", origin="model_inferred")
    run = session_end(stage.coder.principal, "s1")
    assert run.result["counts"] == {"duplicate": 1, "rejected": 1, "stored": 1}
    assert list(run.result["left"].values()) == ["low_confidence"]
    with stage.context():
        live = Memory.objects.filter(status="live").values_list("scope", "content")
        assert sorted(live) == [
            ("agent:coder", "The green dye needs four hours to dry."),
            ("agent:coder", "The red dye needs two hours to dry."),
            ("session:s1", "The blue dye fades in the sun."),
        ]
        moved = Memory.objects.get(content__startswith="The red", status="live")
        source = Memory.objects.get(content__startswith="The red", status="merged")
        assert moved.derived_from == [source.id] and source.merged_into == moved.id


def test_session_end__asked_again__same_counts_and_later_writes_are_taken_up(stage: Stage) -> None:
    write(stage, "The red dye needs two hours to dry.", scope=None, session="s1")
    first = session_end(stage.coder.principal, "s1")
    events = _events(stage)
    assert session_end(stage.coder.principal, "s1").result == first.result
    assert _events(stage) == events
    write(stage, "The grey dye needs six hours to dry.", scope=None, session="s1")
    assert session_end(stage.coder.principal, "s1").result["counts"] == {"stored": 2}


def _events(stage: Stage) -> int:
    with stage.context():
        return AuditEvent.objects.count()


def test_session_end__of_another_agent__is_not_there(stage: Stage) -> None:
    write(stage, "The red dye needs two hours to dry.", scope=None, session="s1")
    with pytest.raises(NotFound):
        session_end(make_agent(stage.tenant, "coder").principal, "s1")
    with stage.context():
        assert Memory.objects.get().scope == "session:s1"


def test_session_end__asked_several_times_at_once__each_answers_and_each_memory_is_counted_once(
    stage: Stage,
) -> None:
    """As by a client that asks again because the first answer was slow."""
    for session, first in (("s1", 30), ("s2", 40), ("s3", 50)):
        for berth in range(first, first + 5):
            write(
                stage,
                f"The captain of vessel {berth + 9} prefers berth {berth}.",
                scope=None,
                session=session,
            )
        ends = [partial(session_end, stage.coder.principal, session)] * 6
        assert {run.status for run in at_once(ends)} == {"ended"}
        counts = session_end(stage.coder.principal, session).result["counts"]
        assert sum(counts.values()) == 5 and set(counts) <= {"stored", "duplicate"}
    with stage.context():
        live = Memory.objects.filter(status="live").values_list("scope", flat=True)
        assert sorted(live) == ["agent:coder"] * 15

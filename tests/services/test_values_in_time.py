"""Values that begin later, have ended, or come back: each reader gets what holds at that instant, swept or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memgov import clock
from memory.domain.scopes import parse_scope
from memory.models import AuditEvent, Contradiction, Memory
from memory.selectors.memory_list import MemoryFilters, memory_list
from memory.selectors.policies import policy_for
from memory.services.contradictions import contradiction_settle
from memory.services.digest import digest_read
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete, memory_pin
from memory.services.sweeps import sweep_decay, sweep_expiry
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")
KEY = {"subject": "quay:4", "predicate": "plan"}


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def offer(stage: Stage, value: str, **fields: Any) -> Outcome:
    given = {"scope": "project:alpha", "origin": "user_explicit", "value": value, **KEY, **fields}
    return memory_write(stage.coder.principal, WriteRequest(**given))


def write(stage: Stage, value: str, **fields: Any) -> Memory:
    outcome = offer(stage, value, **fields)
    assert outcome.memory is not None, outcome
    return outcome.memory


def day(number: float) -> datetime:
    return clock.now() + timedelta(days=number)


def given(stage: Stage, at: datetime | None = None) -> list[str]:
    """What every reader gets at that instant; all of them say the same."""
    with clock.moved_to(at or clock.now()):
        found = memory_retrieve(stage.coder.principal, RetrieveRequest("which plan has quay 4"))
        told = sorted(one.found.content.rsplit(" ", 1)[-1].rstrip(".") for one in found.entries)
        digest = digest_read(stage.coder.principal, parse_scope("project:alpha")).digest
        said = sorted(one.content.rsplit(" ", 1)[-1].rstrip(".") for one in (*digest.fresh, *digest.aging))
        policy = policy_for(stage.coder.principal).policy
        with stage.context():
            rows = memory_list(stage.coder.principal, MemoryFilters(), policy, clock.now())
            listed = sorted(rows.values_list("value", flat=True))
    assert told == said == listed
    return told


def statuses(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(Memory.objects.order_by("id").values_list("value", "status"))


def test_later_value__today_s_stays_until_then_and_gives_way_at_that_instant(stage: Stage) -> None:
    today = write(stage, "gold")
    begins = day(20)
    outcome = offer(stage, "silver", valid_from=begins)
    assert (outcome.outcome, outcome.reason, outcome.replaced) == ("stored", "not_yet", ())
    assert given(stage) == ["gold"]
    assert given(stage, begins - timedelta(microseconds=1)) == ["gold"]
    assert given(stage, begins) == ["silver"], "no sweep was here"
    with clock.moved_to(begins):
        sweep_expiry(stage.tenant.id)
        assert given(stage) == ["silver"]
    with stage.context():
        old = Memory.objects.get(id=today.id)
        assert outcome.memory is not None
        assert (old.status, old.superseded_by) == ("superseded", outcome.memory.id)
        assert Memory.objects.get(id=outcome.memory.id).begins_at is None
        assert AuditEvent.objects.filter(action="memory.superseded", actor_id="sweep.expiry").count() == 1


def test_later_value__is_named_as_not_yet_and_an_ended_one_as_ended(stage: Stage) -> None:
    write(stage, "gold", valid_to=day(2))
    write(stage, "silver", valid_from=day(3))
    found = memory_retrieve(stage.coder.principal, RetrieveRequest("which plan has quay 4"))
    assert found.manifest.excluded["not_yet"] == 1
    with clock.moved_to(day(2.5)):
        found = memory_retrieve(stage.coder.principal, RetrieveRequest("which plan has quay 4"))
        assert (found.manifest.excluded["not_yet"], found.manifest.excluded["ended"]) == (1, 1)
    assert (given(stage), given(stage, day(2.5)), given(stage, day(4))) == (["gold"], [], ["silver"])


def test_later_value__another_zone__is_the_same_instant(stage: Stage) -> None:
    write(stage, "gold")
    begins = day(10).astimezone(timezone(timedelta(hours=14)))
    write(stage, "silver", valid_from=begins)
    again = offer(stage, "silver", valid_from=begins.astimezone(UTC))
    assert again.outcome == "duplicate"
    assert (given(stage, begins - timedelta(seconds=1)), given(stage, begins)) == (["gold"], ["silver"])


def test_later_value__far_ahead__does_not_fade_before_it_begins(stage: Stage) -> None:
    write(stage, "silver", valid_from=day(200))
    write(stage, "gold", subject="quay:5")
    with clock.moved_to(day(199)):
        sweep_decay(stage.tenant.id)
    assert statuses(stage) == {"silver": "live", "gold": "evicted"}


def test_later_values__a_chain_that_comes_back_to_the_first__each_in_its_time(stage: Stage) -> None:
    write(stage, "gold")
    write(stage, "silver", valid_from=day(10))
    assert offer(stage, "gold", valid_from=day(20)).outcome == "stored"
    assert [given(stage, day(at)) for at in (0, 11, 21)] == [["gold"], ["silver"], ["gold"]]
    with clock.moved_to(day(21)):
        sweep_expiry(stage.tenant.id)
        assert given(stage) == ["gold"]
    with stage.context():
        assert Memory.objects.filter(status="live").count() == 1


def test_value_written_now__leaves_the_later_one_and_gives_way_to_it(stage: Stage) -> None:
    write(stage, "gold")
    write(stage, "silver", valid_from=day(10))
    assert offer(stage, "bronze").outcome == "superseded"
    assert (given(stage), given(stage, day(11))) == (["bronze"], ["silver"])


def test_value_written_after_the_instant__swept_or_not__replaces_both(stage: Stage) -> None:
    write(stage, "gold")
    write(stage, "silver", valid_from=day(10))
    with clock.moved_to(day(11)):
        assert offer(stage, "gold").outcome == "superseded", "the gold of before is over: this is news"
        assert given(stage) == ["gold"]
    with stage.context():
        live = Memory.objects.get(status="live")
        assert set(Memory.objects.exclude(id=live.id).values_list("superseded_by", "status")) == {
            (live.id, "superseded")
        }


def test_later_value__weaker_or_against_a_pin__is_held(stage: Stage) -> None:
    write(stage, "gold")
    weak = offer(stage, "silver", valid_from=day(10), origin="model_inferred", confidence=0.3)
    assert weak.outcome in ("held", "rejected") and given(stage, day(11)) == ["gold"]
    held = offer(stage, "bronze", valid_from=day(10), origin="tool_output")
    assert (held.outcome, held.reason) == ("held", "conflict")
    with stage.context():
        found = Contradiction.objects.get(memory_b=held.memory.id)  # type: ignore[union-attr]
    contradiction_settle(stage.reviewer.principal, found.id, "keep_b", "asked them", version=found.version)
    assert (given(stage), given(stage, day(11))) == (["gold"], ["bronze"]), "let in, and not before its time"


def test_later_values__of_one_instant__are_rivals(stage: Stage) -> None:
    write(stage, "gold")
    write(stage, "silver", valid_from=(begins := day(10)))
    assert offer(stage, "bronze", valid_from=begins).outcome == "superseded"
    assert (given(stage), given(stage, begins)) == (["gold"], ["bronze"])


def test_later_value__deleted_edited_or_restored__today_s_holds_as_long_as_it_should(stage: Stage) -> None:
    write(stage, "gold")
    later = write(stage, "silver", valid_from=day(10))
    edited = memory_edit(stage.coder.principal, later.id, {"valid_from": day(20)}, version=later.version)
    assert (given(stage, day(11)), given(stage, day(21))) == (["gold"], ["silver"])
    memory_delete(stage.reviewer.principal, edited.id, "a mistake")
    assert given(stage, day(21)) == ["gold"]
    memory_restore(stage.reviewer.principal, edited.id, "it was none")
    assert (given(stage), given(stage, day(21))) == (["gold"], ["silver"])


def test_ended_value__replaces_and_confirms_nothing(stage: Stage) -> None:
    now = write(stage, "gold")
    with clock.moved_to(day(1)):
        past = offer(stage, "silver", valid_from=day(-30), valid_to=day(-10))
        assert (past.outcome, past.reason) == ("stored", "older_than_known")
        same = offer(stage, "gold", valid_from=day(-30), valid_to=day(-10))
        assert (same.outcome, same.reason) == ("stored", "older_than_known")
        assert given(stage) == ["gold"]
    with stage.context():
        assert Memory.objects.get(id=now.id).learned_at == now.learned_at


def test_ended_value__of_what_is_known__ends_it(stage: Stage) -> None:
    write(stage, "gold")
    with clock.moved_to(day(5)):
        assert offer(stage, "gold", valid_to=day(-1)).reason == "ended"
        assert given(stage) == []
        assert offer(stage, "silver").outcome == "stored"
        assert given(stage) == ["silver"]


def test_ended_value__contested_or_pinned__is_given_no_more_and_the_sweep_says_so(stage: Stage) -> None:
    end = day(5)
    pinned = write(stage, "gold", valid_to=end)
    memory_pin(stage.reviewer.principal, pinned.id, "the contract says so")
    assert (given(stage), given(stage, end)) == (["gold"], [])
    with clock.moved_to(end):
        weak = offer(stage, "bronze", origin="tool_output")
        assert weak.outcome == "stored", "what has ended stands against nothing"
        assert given(stage) == ["bronze"]
    assert statuses(stage) == {"gold": "superseded", "bronze": "live"}


def test_ended_value__alone__expires_and_comes_back_without_its_end(stage: Stage) -> None:
    alone = write(stage, "gold", valid_to=day(5))
    with clock.moved_to(day(6)):
        run = sweep_expiry(stage.tenant.id, dry_run=True)
        assert run.changed == 1
        assert sweep_expiry(stage.tenant.id).changed == 1
        assert statuses(stage) == {"gold": "expired"}
        memory_restore(stage.reviewer.principal, alone.id, "prolonged")
        assert given(stage) == ["gold"]


def test_several_values__one_that_begins_later__is_given_then(stage: Stage) -> None:
    key = {"predicate": "likes"}
    write(stage, "gold", **key)
    write(stage, "silver", valid_from=day(10), **key)
    assert (given(stage), given(stage, day(11))) == (["gold"], ["gold", "silver"])

"""What has expired counts as expired at once, swept or not: nobody acts on it as if it lived."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.scopes import Scope, ScopeKind
from memory.models import Contradiction, Memory, PromotionRequest
from memory.services.contradictions import contradiction_settle
from memory.services.errors import Conflict
from memory.services.memory_write import memory_write
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import Stale, promotion_decide
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin, memory_verify
from memory.services.write_types import WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")
SHARED = Scope(ScopeKind.SHARED)


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(stage: Stage, content: str | None = None, **fields: Any) -> Memory:
    given = {"scope": "project:alpha", "origin": "user_explicit", **fields}
    outcome = memory_write(stage.coder.principal, WriteRequest(content=content, **given))
    assert outcome.memory is not None
    return outcome.memory


def later() -> datetime:
    return clock.now() + timedelta(hours=2)


def test_expired__is_neither_pinned_verified_nor_proposed(stage: Stage) -> None:
    memory = write(stage, "The night market stands on the old quay.", ttl="1h")
    with clock.moved_to(later()):
        with pytest.raises(Conflict, match="expired"):
            memory_pin(stage.reviewer.principal, memory.id, "important")
        with pytest.raises(Conflict, match="expired"):
            memory_verify(stage.coder.principal, memory.id)
        with pytest.raises(Conflict, match="expired"):
            promotion_request(stage.coder.principal, memory.id, SHARED, "all need it")
    with stage.context():
        unchanged = Memory.objects.get(id=memory.id)
        assert (unchanged.version, unchanged.learned_at) == (1, memory.learned_at)
        assert not PromotionRequest.objects.exists()


def test_approval__of_what_expired_meanwhile__closes_the_request_and_promotes_nothing(stage: Stage) -> None:
    memory = write(stage, "The night market stands on the old quay.", ttl="1h")
    request = promotion_request(stage.coder.principal, memory.id, SHARED, "all need it")
    with clock.moved_to(later()), pytest.raises(Stale, match="is expired now"):
        promotion_decide(stage.reviewer.principal, request.id, "approve", version=request.version)
    with stage.context():
        assert PromotionRequest.objects.get().status == "stale"
        assert Memory.objects.get(id=memory.id).scope == "project:alpha"


def test_settling__for_the_value_that_expired__is_refused_and_the_other_stays(stage: Stage) -> None:
    key = {"subject": "quay:4", "predicate": "owner"}
    known = write(stage, value="Team Anchor", ttl="1h", **key)
    held = write(stage, value="Team Buoy", origin="tool_output", **key)
    with stage.context():
        found = Contradiction.objects.get()
    assert (found.memory_a, found.memory_b) == (known.id, held.id)
    reviewer = stage.reviewer.principal
    with clock.moved_to(later()):
        with pytest.raises(Conflict, match="the one to keep is expired"):
            contradiction_settle(reviewer, found.id, "keep_a", reason="asked them", version=found.version)
        contradiction_settle(reviewer, found.id, "keep_b", reason="asked them", version=found.version)
    with stage.context():
        assert Memory.objects.get(id=held.id).status == "live"


def test_weaker_value__beside_one_that_expired__is_stored_and_read(stage: Stage) -> None:
    key = {"subject": "quay:4", "predicate": "plan"}
    strong = write(stage, value="gold", ttl="1h", **key)
    assert write(stage, value="silver", origin="tool_output", **key).status == "candidate", (
        "held while it stands"
    )
    with clock.moved_to(later()):
        weak = write(stage, value="bronze", origin="tool_output", **key)
        assert weak.status == "live"
        found = memory_retrieve(stage.coder.principal, RetrieveRequest("which plan has quay 4"))
        assert [one.found.content for one in found.entries] == [weak.content]
    with stage.context():
        assert Memory.objects.get(id=strong.id).superseded_by == weak.id

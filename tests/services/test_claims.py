"""Free text that claims one thing of one subject: rivals meet whatever their wording, also at the same moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import Contradiction, Memory
from memory.services.contradictions import contradiction_settle, contradiction_undo
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant
from tests.parallel import at_once

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(stage: Stage, content: str, **fields: Any) -> Outcome:
    fields = {"scope": "user:42", "origin": "user_explicit", **fields}
    return memory_write(stage.coder.principal, WriteRequest(content=content, **fields))


def live(stage: Stage, scope: str = "user:42") -> list[str]:
    with stage.context():
        return list(
            Memory.objects.filter(status="live", scope=scope).order_by("id").values_list("content", flat=True)
        )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Lives in Bern", "Moved to Zurich"),
        ("Loves Chinese food", "Hates Chinese food"),
        ("Kiran is on project Atlas", "Kiran moved to project Zeus"),
        ("Dana works at Acme", "Dana is now employed by Umbrella"),
    ],
)
def test_claim__another_value__supersedes(stage: Stage, first: str, second: str) -> None:
    old = write(stage, first)
    new = write(stage, second)
    assert (new.outcome, new.replaced) == ("superseded", (old.memory.id,))  # type: ignore[union-attr]
    assert live(stage) == [second]
    with stage.context():
        assert Memory.objects.get(content=first).superseded_by == new.memory.id  # type: ignore[union-attr]


def test_claim__same_value_in_other_words__one_memory(stage: Stage) -> None:
    write(stage, "Lives in Bern")
    assert write(stage, "Moved to Bern").outcome == "near_duplicate"
    assert len(live(stage)) == 1


def test_claim__back_and_forth__one_live_and_a_chain(stage: Stage) -> None:
    for content in ("Lives in Bern", "Moved to Zurich", "Lives in Bern"):
        write(stage, content)
    assert live(stage) == ["Lives in Bern"]
    with stage.context():
        assert Memory.objects.filter(status="superseded").count() == 2


def test_claim__of_another_subject_or_attribute__left_alone(stage: Stage) -> None:
    for content in ("Dana works at Acme", "Kiran works at Umbrella", "Dana administers Acme's GitHub org"):
        assert write(stage, content).outcome == "stored"
    assert len(live(stage)) == 3


def test_claim__rivals_at_once__never_two_live(stage: Stage) -> None:
    for round_number in range(6):
        scope = f"user:{round_number}"

        def call(content: str, scope: str = scope) -> Callable[[], Outcome]:
            return lambda: write(stage, content, scope=scope)

        towns = (
            "Lives in Bern",
            "Moved to Zurich",
            "Relocated to Geneva",
            "Now lives in Basel",
            "Based in Chur",
        )
        outcomes = Counter(outcome.outcome for outcome in at_once([call(town) for town in towns]))
        assert outcomes == {"stored": 1, "superseded": 4}
        assert len(live(stage, scope)) == 1


def test_claim__policy_that_keeps_values__lets_both_live(database: None) -> None:
    document = Policy().model_dump(mode="json")
    document["reconciliation"] |= {"single_valued": "keep"}
    stage = make_tenant(policy=Policy.model_validate(document))
    for content in ("Lives in Bern", "Moved to Zurich"):
        assert write(stage, content).outcome == "stored"
    assert len(live(stage)) == 2


def test_claim__edited__guards_the_new_value(stage: Stage) -> None:
    memory = write(stage, "Lives in Bern").memory
    assert memory is not None
    memory_edit(stage.coder.principal, memory.id, {"content": "Kiran is on project Atlas"}, version=1)
    write(stage, "Kiran moved to project Zeus")
    write(stage, "Moved to Zurich")
    assert live(stage) == ["Kiran moved to project Zeus", "Moved to Zurich"]


def test_claim__promoted_beside_another_value__replaces_it(stage: Stage) -> None:
    write(stage, "Kiran is on project Atlas", scope="project:alpha")
    memory = write(stage, "Kiran moved to project Zeus", scope="agent:coder").memory
    assert memory is not None
    request = promotion_request(stage.coder.principal, memory.id, parse_scope("project:alpha"), "seen by all")
    if request.status == "pending":
        promotion_decide(
            stage.reviewer.principal, request.id, "approve", reason="ok", version=request.version
        )
    assert live(stage, "project:alpha") == ["Kiran moved to project Zeus"]


MIDDLE = ("Deploy window is Tuesday 14:00 UTC", "We deploy on Tuesdays at 2pm UTC")


@pytest.fixture
def pair(stage: Stage) -> Contradiction:
    """Two wordings that may say the same, in the merge queue."""
    for content in MIDDLE:
        assert write(stage, content, scope="project:alpha").outcome in ("stored", "near_duplicate")
    with stage.context():
        return Contradiction.objects.get(kind="merge")


@pytest.mark.parametrize(("action", "kept"), [("keep_a", MIDDLE[0]), ("keep_b", MIDDLE[1])])
def test_merge_queue__one_wording_kept__other_merged_and_undone(
    stage: Stage, pair: Contradiction, action: str, kept: str
) -> None:
    contradiction_settle(stage.reviewer.principal, pair.id, action, "the same window", version=pair.version)
    assert live(stage, "project:alpha") == [kept]
    with stage.context():
        merged = Memory.objects.get(status="merged")
        assert Memory.objects.get(id=merged.merged_into).content == kept
    contradiction_undo(stage.reviewer.principal, pair.id)
    assert sorted(live(stage, "project:alpha")) == sorted(MIDDLE)


def test_merge_queue__both_kept__stay_and_are_not_asked_again(stage: Stage, pair: Contradiction) -> None:
    contradiction_settle(stage.reviewer.principal, pair.id, "keep_both", "two windows", version=pair.version)
    assert len(live(stage, "project:alpha")) == 2
    for content in MIDDLE:
        assert write(stage, content, scope="project:alpha").outcome == "duplicate"
    with stage.context():
        assert not Contradiction.objects.filter(status="open").exists()


def test_dated_facts__kept_apart(stage: Stage) -> None:
    for content in ("Latency was 40 ms on 1 May", "Latency was 55 ms on 9 May"):
        assert write(stage, content, scope="project:alpha").outcome == "stored"
    assert len(live(stage, "project:alpha")) == 2
    with stage.context():
        assert not Contradiction.objects.exists()

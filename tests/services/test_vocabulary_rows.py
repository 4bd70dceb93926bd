"""A changed rule of a predicate takes along what stands under its names, to be corrected there, and gives it back."""

from __future__ import annotations

from typing import Any

import pytest

from memory.domain.registry import PredicateRule
from memory.domain.values import Normaliser
from memory.models import AuditEvent, Contradiction, Memory
from memory.services.errors import Conflict
from memory.services.memory_write import memory_write
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete
from memory.services.vocabulary import alias_set, predicate_remove, predicate_set
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")
SUPPLIER = PredicateRule("supplier", single_valued=True, aliases=("vendor",))


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(stage: Stage, predicate: str, value: str, subject: str = "press", **fields: Any) -> Outcome:
    request = WriteRequest(
        subject=subject, predicate=predicate, value=value, scope="project:alpha",
        **{"origin": "user_explicit", **fields},
    )  # fmt: skip
    return memory_write(stage.coder.principal, request)


def rows(stage: Stage, *statuses: str) -> list[tuple[str, str, str]]:
    with stage.context():
        found = Memory.objects.filter(status__in=statuses or ("live", "contested"))
        return sorted(found.values_list("predicate", "value", "status"))


def test_predicate_alias__rows_under_it__are_renamed_and_can_be_corrected(stage: Stage) -> None:
    write(stage, "vendor", "Mill four")
    done = predicate_set(stage.owner.principal, SUPPLIER)
    assert (done.brought.renamed, done.brought.merged, done.brought.contested) == (1, 0, 0)
    assert rows(stage) == [("supplier", "Mill four", "live")]
    assert write(stage, "vendor", "Mill four").outcome == "duplicate"
    assert write(stage, "vendor", "Mill five").outcome == "superseded"
    assert rows(stage) == [("supplier", "Mill five", "live")]
    with stage.context():
        assert AuditEvent.objects.filter(action="memory.renamed").count() == 1


def test_predicate_alias__what_says_the_same_is_merged_and_what_clashes_contested(stage: Stage) -> None:
    write(stage, "supplier", "Mill four")
    write(stage, "vendor", "mill four.", session="s2")
    write(stage, "supplier", "Mill one", subject="kiln")
    write(stage, "vendor", "Mill two", subject="kiln")
    looked = predicate_set(stage.owner.principal, SUPPLIER, keep=False)
    assert (looked.brought.merged, looked.brought.contested) == (1, 1)
    assert {predicate for predicate, *_ in rows(stage)} == {"supplier", "vendor"}, "only looked at"
    predicate_set(stage.owner.principal, SUPPLIER)
    assert rows(stage) == [
        ("supplier", "Mill four", "live"),
        ("supplier", "Mill one", "contested"),
        ("supplier", "Mill two", "contested"),
    ]
    with stage.context():
        assert Contradiction.objects.filter(status="open", kind="contested").count() == 1


def test_predicate_alias__taken_away__gives_back_what_had_come_from_it(stage: Stage) -> None:
    for predicate, value, subject in (
        ("vendor", "Mill nine", "loom"), ("supplier", "Mill four", "press"), ("vendor", "Mill four", "press"),
        ("supplier", "Mill one", "kiln"), ("vendor", "Mill two", "kiln"),
    ):  # fmt: skip
        write(stage, predicate, value, subject)
    before = rows(stage)
    predicate_set(stage.owner.principal, SUPPLIER)
    assert {predicate for predicate, *_ in rows(stage)} == {"supplier"}
    predicate_remove(stage.owner.principal, "supplier")
    assert rows(stage) == before
    with stage.context():
        assert not Contradiction.objects.filter(status="open").exists()
    predicate_set(stage.owner.principal, SUPPLIER)
    predicate_set(stage.owner.principal, PredicateRule("supplier", single_valued=True))
    assert rows(stage) == before, "by a rule without the alias as well"


def test_normaliser__changed__rows_are_compared_by_the_new_one(stage: Stage) -> None:
    write(stage, "speech", "German")
    write(stage, "speech", "German", subject="kiln")
    write(stage, "speech", "Deutsch", subject="kiln")
    assert len(rows(stage)) == 3
    done = predicate_set(stage.owner.principal, PredicateRule("speech", normaliser=Normaliser.LANGUAGE))
    assert done.brought.merged == 1
    assert write(stage, "speech", "Deutsch").outcome == "duplicate"
    assert len(rows(stage)) == 2


def test_one_value__from_now_on__the_database_holds_it_where_there_is_one(stage: Stage) -> None:
    write(stage, "supplier", "Mill four")
    write(stage, "supplier", "Mill one", subject="kiln")
    write(stage, "supplier", "Mill two", subject="kiln")
    predicate_set(stage.owner.principal, PredicateRule("supplier", single_valued=True))
    with stage.context():
        flags = dict(Memory.objects.values_list("value", "single_valued"))
        assert flags["Mill four"] and not flags["Mill one"]
    assert write(stage, "supplier", "Mill six").outcome == "superseded"
    predicate_set(stage.owner.principal, PredicateRule("supplier"))
    assert write(stage, "supplier", "Mill seven").outcome == "stored"


def test_restored__under_a_name_that_became_an_alias__comes_back_under_the_new_one(stage: Stage) -> None:
    gone = write(stage, "vendor", "Mill four").memory
    assert gone is not None
    memory_delete(stage.reviewer.principal, gone.id, "a mistake")
    predicate_set(stage.owner.principal, SUPPLIER)
    memory_restore(stage.reviewer.principal, gone.id, "it was none")
    assert rows(stage) == [("supplier", "Mill four", "live")]
    memory_delete(stage.reviewer.principal, gone.id, "a mistake")
    write(stage, "supplier", "Mill six")
    with pytest.raises(Conflict, match="lives in its place"):
        memory_restore(stage.reviewer.principal, gone.id, "it was none")


def test_a_look_at_an_alias__that_is_not_set__leaves_no_words_behind(stage: Stage) -> None:
    alias_set(stage.owner.principal, "the press", "press", keep=False)
    alias_set(stage.owner.principal, "the kiln", "kiln")
    assert write(stage, "supplier", "Mill four", subject="the press").memory.subject == "the press"  # type: ignore[union-attr]
    assert write(stage, "supplier", "Mill four", subject="the kiln").memory.subject == "kiln"  # type: ignore[union-attr]


def test_too_many__under_the_names__refused_and_nothing_changed(stage: Stage, monkeypatch: Any) -> None:
    monkeypatch.setattr("memory.services.vocabulary_rows.MOST", 1)
    write(stage, "vendor", "Mill four")
    write(stage, "vendor", "Mill five")
    with pytest.raises(Conflict, match="more than 1"):
        predicate_set(stage.owner.principal, SUPPLIER)
    assert {predicate for predicate, *_ in rows(stage)} == {"vendor"}

"""The tenant's words: aliases of subjects and rules of predicates, from the next write on, in every process."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.domain.registry import PredicateRule
from memory.domain.values import Normaliser
from memory.models import AuditEvent, Contradiction, Memory
from memory.selectors import vocabulary as selector
from memory.services.errors import Denied, Invalid, NotFound
from memory.services.memory_write import memory_write
from memory.services.vocabulary import alias_remove, alias_set, predicate_remove, predicate_set
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def write(stage: Stage, subject: str, predicate: str, value: str, **fields: Any) -> Outcome:
    request = WriteRequest(
        subject=subject,
        predicate=predicate,
        value=value,
        scope="project:alpha",
        origin="user_explicit",
        **fields,
    )
    return memory_write(stage.coder.principal, request)


def rows(stage: Stage, **fields: Any) -> list[tuple[str, str, str]]:
    with stage.context():
        return list(Memory.objects.filter(**fields).order_by("id").values_list("subject", "value", "status"))


def test_alias__next_write__meets_the_rows_of_the_subject(stage: Stage) -> None:
    write(stage, "user:42", "plan", "pro")
    alias_set(stage.owner.principal, "Customer_42", "user:42", "one customer, two systems")
    outcome = write(stage, "customer_42", "plan", "team")
    assert outcome.outcome == "superseded"
    assert rows(stage) == [("user:42", "pro", "superseded"), ("user:42", "team", "live")]
    with stage.context():
        event = AuditEvent.objects.get(action="alias.set")
        assert "customer_42" not in str(event.after), "names are not readable in the chain"
    alias_remove(stage.owner.principal, "customer_42")
    write(stage, "customer_42", "plan", "solo")
    assert ("customer_42", "solo", "live") in rows(stage)


def test_alias__spellings_of_one_entity__one_row(stage: Stage) -> None:
    for name in ("Acme Corp", "ACME Corp.", "acme corp"):
        outcome = write(stage, name, "plan", "enterprise")
    assert outcome.outcome == "duplicate"
    alias_set(stage.owner.principal, "Acme", "acme corp")
    alias_set(stage.owner.principal, "Acme Corporation", "Acme")
    assert write(stage, "acme corporation", "plan", "enterprise").outcome == "duplicate"
    assert len(rows(stage)) == 1


def test_alias__rows_under_it__renamed_merged_or_contested(stage: Stage) -> None:
    write(stage, "user:1", "plan", "pro")
    write(stage, "u1", "plan", "team")
    write(stage, "user:1", "likes", "green tea")
    write(stage, "u1", "likes", "Green tea")
    write(stage, "u1", "likes", "black coffee")
    done = alias_set(stage.owner.principal, "u1", "user:1")
    assert (done.renamed, done.merged, done.contested) == (1, 1, 1)
    assert sorted(rows(stage, status__in=["live", "contested"])) == [
        ("user:1", "black coffee", "live"), ("user:1", "green tea", "live"), ("user:1", "pro", "contested"),
        ("user:1", "team", "contested"),
    ]  # fmt: skip
    with stage.context():
        assert Contradiction.objects.get().kind == "contested"


@pytest.mark.parametrize(("alias", "subject"), [("a", "A "), ("", "b"), ("a", " "), ("a", "x" * 400)])
def test_alias__names_that_are_none__refused(stage: Stage, alias: str, subject: str) -> None:
    with pytest.raises(Invalid):
        alias_set(stage.owner.principal, alias, subject)


def test_alias__leading_back__refused(stage: Stage) -> None:
    alias_set(stage.owner.principal, "b", "a")
    alias_set(stage.owner.principal, "c", "b")
    with pytest.raises(Invalid, match="leads back"):
        alias_set(stage.owner.principal, "a", "c")


def test_predicate__made_single_valued__supersedes_from_then_on(stage: Stage) -> None:
    write(stage, "press", "supplier", "Mill four")
    write(stage, "press", "supplier", "Mill five")
    assert {status for *_, status in rows(stage)} == {"live"}
    rule = PredicateRule("Supplier", single_valued=True, aliases=("supplied by",))
    predicate_set(stage.owner.principal, rule, "one supplier at a time")
    assert write(stage, "press", "supplied_by", "Mill six").outcome == "superseded"
    assert [row for row in rows(stage) if row[2] == "live"] == [("press", "Mill six", "live")]
    predicate_remove(stage.owner.principal, "supplier")
    write(stage, "press", "supplier", "Mill seven")
    assert len(rows(stage, status="live")) == 2


def test_predicate__its_normaliser__decides_sameness(stage: Stage) -> None:
    predicate_set(
        stage.owner.principal, PredicateRule("fee", single_valued=True, normaliser=Normaliser.CURRENCY)
    )
    write(stage, "press", "fee", "$1,200.00")
    assert write(stage, "press", "fee", "1200 USD").outcome == "duplicate"


def test_predicate__built_in__overridden_by_the_tenant(stage: Stage) -> None:
    predicate_set(stage.owner.principal, PredicateRule("plan", single_valued=False))
    write(stage, "user:42", "plan", "pro")
    write(stage, "user:42", "plan", "team")
    assert len(rows(stage, status="live")) == 2


def test_predicate__built_in_overridden__in_each_of_its_spellings(stage: Stage) -> None:
    predicate_set(stage.owner.principal, PredicateRule("plan", single_valued=False))
    predicate_set(stage.owner.principal, PredicateRule("version", single_valued=True))
    write(stage, "user:42", "plan", "pro")
    assert write(stage, "user:42", "Pricing plan", "team").outcome == "stored"
    assert len(rows(stage, status="live")) == 2
    rules = selector.words_known(stage.tenant.id).registry.rules()
    assert [rule.volatile for rule in rules if rule.name == "version"] == [False], "no sweep ages it"


def test_predicate__alias_that_is_a_built_in_name__takes_its_spellings_along(stage: Stage) -> None:
    predicate_set(stage.owner.principal, PredicateRule("contract", single_valued=True, aliases=("plan",)))
    write(stage, "user:42", "subscription", "pro")
    assert write(stage, "user:42", "contract", "team").outcome == "superseded"


def test_predicate__name_of_another__refused(stage: Stage) -> None:
    predicate_set(stage.owner.principal, PredicateRule("supplier", aliases=("vendor",)))
    with pytest.raises(Invalid, match="belongs to"):
        predicate_set(stage.owner.principal, PredicateRule("vendor"))
    with pytest.raises(NotFound):
        predicate_remove(stage.owner.principal, "vendor")


def test_vocabulary__of_a_reviewer_or_agent__denied_and_nothing_changed(stage: Stage) -> None:
    for actor in (stage.reviewer.principal, stage.coder.principal):
        with pytest.raises(Denied):
            alias_set(actor, "u1", "user:1")
        with pytest.raises(Denied):
            predicate_set(actor, PredicateRule("plan"))
    write(stage, "u1", "plan", "pro")
    assert rows(stage) == [("u1", "pro", "live")]


def test_vocabulary__another_process__sees_the_change_at_its_next_write(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(stage, "user:1", "plan", "pro")
    elsewhere = dict(selector._latest)
    alias_set(stage.owner.principal, "u1", "user:1")
    monkeypatch.setattr(selector, "_latest", elsewhere)
    assert write(stage, "u1", "plan", "pro").outcome == "duplicate"


def test_vocabulary__kept__costs_a_write_no_query(stage: Stage) -> None:
    def cost(value: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            write(stage, "press", "likes", value)
        return len(statements(captured))

    for drink in ("green tea", "oat milk"):  # the second write finds the scope that the first one made
        write(stage, "press", "likes", drink)
    plain = cost("rye bread")
    alias_set(stage.owner.principal, "u1", "user:1")
    write(stage, "press", "likes", "old maps")
    assert cost("slow trains") == plain


def test_vocabulary__of_one_tenant__says_nothing_in_another(stage: Stage) -> None:
    alias_set(stage.owner.principal, "u1", "user:1")
    other = make_tenant()
    write(other, "u1", "plan", "pro")
    assert rows(other) == [("u1", "pro", "live")]

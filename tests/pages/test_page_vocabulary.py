"""The pages of the vocabulary: what a change would do, doing it, and who was faster."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from memory.domain.ids import show_id
from memory.domain.registry import PredicateRule
from memory.models import AuditEvent, Contradiction, Memory, PredicateSetting, SubjectAlias
from memory.services.vocabulary import alias_set, predicate_set
from tests.factories import Stage
from tests.pages.staging import signed_in, write


def at(stage: Stage, path: str = "") -> str:
    return f"/t/{stage.tenant.slug}/vocabulary/{path}"


def version(page: str) -> str:
    found = re.search(r'name="version" value="(\d+)"', page)
    assert found
    return found[1]


def fact(stage: Stage, subject: str, predicate: str, value: str, **fields: Any) -> Memory:
    return write(
        stage.coder,
        subject=subject,
        predicate=predicate,
        value=value,
        content=None,
        scope="user:42",
        **fields,
    )


def test_alias__first_says_what_it_would_do__then_does_exactly_that(stage: Stage, owner: Client) -> None:
    fact(stage, "user:42", "plan", "enterprise")
    fact(stage, "user:42", "editor", "emacs")
    fact(stage, "customer_42", "plan", "enterprise")
    fact(stage, "customer_42", "editor", "neovim")
    fact(stage, "customer_42", "hobby", "chess")
    sent = {"alias": "Customer_42", "subject": "user:42", "reason": "one customer, two systems"}
    look = owner.post(at(stage, "aliases/"), sent)
    page = look.content.decode()
    assert look.status_code == 200 and "What it would do" in page
    assert "1 memory would be renamed" in page and "1 would be merged" in page and "1 would clash" in page
    with stage.context():
        assert not SubjectAlias.objects.exists() and not Contradiction.objects.exists()
        assert Memory.objects.filter(subject="customer_42", status="live").count() == 3
        assert not AuditEvent.objects.filter(action="alias.set").exists()
    done = owner.post(at(stage, "aliases/"), {**sent, "confirmed": "yes", "version": version(page)})
    assert done.status_code == 303
    with stage.context():
        assert SubjectAlias.objects.get().subject == "user:42"
        ends = Memory.objects.filter(predicate__in=("plan", "editor", "hobby")).values_list(
            "status", flat=True
        )
        assert sorted(ends) == ["contested", "contested", "live", "live", "merged"]
        assert AuditEvent.objects.get(action="alias.set").reason == "one customer, two systems"
    listed = owner.get(at(stage)).content.decode()
    assert "<code>customer_42</code>" in listed and "<code>user:42</code>" in listed


def test_alias__vocabulary_moved_between_the_steps__is_409(stage: Stage, owner: Client) -> None:
    sent = {"alias": "c_1", "subject": "user:1"}
    page = owner.post(at(stage, "aliases/"), sent).content.decode()
    alias_set(stage.owner.principal, "c_2", "user:2")
    late = owner.post(at(stage, "aliases/"), {**sent, "confirmed": "yes", "version": version(page)})
    assert late.status_code == 409 and "somebody changed the vocabulary" in late.content.decode().lower()
    assert 'value="c_1"' in late.content.decode()
    bare = owner.post(at(stage, "aliases/"), {**sent, "confirmed": "yes"})
    assert bare.status_code == 409
    with stage.context():
        assert [row.alias for row in SubjectAlias.objects.all()] == ["c_2"]


@pytest.mark.parametrize(("alias", "subject"), [("", "user:1"), ("c_1", ""), ("c_1", "c_1")])
def test_alias__that_is_none__is_refused_in_the_form(
    stage: Stage, owner: Client, alias: str, subject: str
) -> None:
    answer = owner.post(at(stage, "aliases/"), {"alias": alias, "subject": subject})
    assert answer.status_code == 422 and b'role="alert"' in answer.content
    with stage.context():
        assert not SubjectAlias.objects.exists()


def test_predicate__changed__tells_what_stands_under_it_and_holds_from_then_on(
    stage: Stage, owner: Client
) -> None:
    for value in ("chess", "rowing"):
        fact(stage, "user:42", "hobby", value)
    fact(stage, "user:42", "pastime", "tennis")
    form = owner.get(at(stage, "predicates/"), {"predicate": "plan"}).content.decode()
    assert 'value="plan"' in form and "subscription" in form
    sent = {
        "name": "Hobby",
        "single_valued": "on",
        "ages": "on",
        "normaliser": "text",
        "aliases": "pastime\n",
    }
    page = owner.post(at(stage, "predicates/"), sent).content.decode()
    assert "2 memories stand under hobby" in page and "<code>single valued</code> <del>no</del>" in page
    assert "1 key has more than one value now" in page and "1 would clash with another value" in page
    with stage.context():
        assert not PredicateSetting.objects.exists()
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    assert hidden["volatile"] == "False" and hidden["ages"] == "True"
    assert owner.post(at(stage, "predicates/"), hidden).status_code == 303
    with stage.context():
        row = PredicateSetting.objects.get()
        assert (row.name, row.single_valued, row.ages, row.volatile, row.aliases) == (
            "hobby",
            True,
            True,
            False,
            ["pastime"],
        )
    listed = owner.get(at(stage), {"q": "hobby"}).content.decode()
    assert "one at a time" in listed and "Own" in listed and "<code>plan</code>" not in listed


def test_predicate__that_is_taken_or_wrong__is_refused_beside_its_field(stage: Stage, owner: Client) -> None:
    predicate_set(stage.owner.principal, PredicateRule("hobby", aliases=("pastime",)))
    for more, said in (
        ({"name": "leisure", "aliases": "pastime"}, "belongs to the predicate hobby"),
        ({"name": "!!"}, "letter or a digit"),
        ({"name": "x", "half_life_days": "0"}, "greater than or equal"),
        ({"name": "x", "normaliser": "magic"}, "valid choice"),
    ):
        answer = owner.post(at(stage, "predicates/"), {"normaliser": "text", **more})
        assert answer.status_code == 422 and said in answer.content.decode(), more


def test_removed__after_asking__and_not_beside_another_change(stage: Stage, owner: Client) -> None:
    alias = alias_set(stage.owner.principal, "c_1", "user:1").alias
    rule = predicate_set(stage.owner.principal, PredicateRule("plan", single_valued=False)).setting
    of_alias, of_rule = (
        at(stage, f"aliases/{show_id('als', alias.id)}/remove/"),
        at(stage, f"predicates/{show_id('prd', rule.id)}/remove/"),
    )
    assert "The built-in rule holds again." in owner.get(of_rule).content.decode()
    assert owner.post(of_alias, {"version": "1"}).status_code == 409
    assert owner.post(of_alias, {"version": "2", "reason": "a mistake"}).status_code == 303
    assert owner.post(of_rule, {"version": "3"}).status_code == 303
    assert owner.get(of_alias).status_code == owner.get(of_rule).status_code == 404
    with stage.context():
        assert not SubjectAlias.objects.exists() and not PredicateSetting.objects.exists()
        assert AuditEvent.objects.get(action="alias.removed").reason == "a mistake"


def test_index__states__empty_no_match_and_hostile_names(stage: Stage, owner: Client) -> None:
    assert "No aliases yet" in owner.get(at(stage)).content.decode()
    evil = "<img src=x onerror=alert(1)>"
    alias_set(stage.owner.principal, evil, "user:1")
    page = owner.get(at(stage)).content.decode()
    assert "<img src=x" not in page and "&lt;img" in page
    none = owner.get(at(stage), {"q": "zebra"}).content.decode()
    assert "No alias holds" in none and "No predicate holds" in none and "Clear the search" in none
    reader = signed_in(stage.reviewer).get(at(stage)).content.decode()
    assert "Add an alias" not in reader and "/remove/" not in reader

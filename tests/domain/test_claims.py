"""Free text that contradicts free text, and text that only looks as if it did."""

import pytest

from memory.domain.claims import claim_of, rival_claims
from memory.domain.reconciliation import Action
from memory.domain.types import OutcomeKind, Status

from .candidates import candidate, known
from .test_reconciliation import decide

RIVALS = [
    ("Loves Chinese food", "Hates Chinese food"),
    ("I love Chinese food", "User doesn't like Chinese food."),
    ("Kiran is on project Atlas", "Kiran moved to project Zeus"),
    ("Lives in Bern", "Moved to Zurich"),
    ("Maya lives in Bern", "Maya has moved from Bern to Zürich"),
    ("Dana works at Acme", "Dana works at Globex"),
    ("User lives in New York", "User lives in Los Angeles"),
]
NO_RIVALS = [
    ("Dana works at Acme", "Dana administers Acme's GitHub org"),
    ("Dana works at Acme", "Kim works at Globex"),
    ("Likes Python", "Likes Go"),
    ("Likes Python", "Loves Python"),
    ("Loves tea in the morning", "Hates tea"),
    ("Loves dogs when they are small", "Hates dogs when they are small"),
    ("Dana likes to hike", "Dana hates to hike"),
    ("Works at Acme", "Works on project Atlas"),
    ("Kiran works on project Atlas", "Kiran works on project Zeus"),
    ("Maya moved to the platform team", "Maya lives in Bern"),
    ("Maya lives in Bern", "Maya lives in Bern with two cats and a dog"),
    ("User no longer lives in Bern", "User lives in Bern"),
    ("Latency 40 ms on 1 May", "Latency 55 ms on 9 May"),
]


@pytest.mark.parametrize(("old", "new"), RIVALS)
def test_reconcile__free_text_that_contradicts__replaces_the_old(old: str, new: str):
    assert rival_claims(old, new) and rival_claims(new, old)
    row = known(candidate(old))
    found = decide(candidate(new), row)
    assert (found.outcome, found.targets) == (OutcomeKind.SUPERSEDED, (row.id,))


@pytest.mark.parametrize(("old", "new"), NO_RIVALS)
def test_reconcile__free_text_about_something_else__keeps_both(old: str, new: str):
    assert not rival_claims(old, new)
    assert decide(candidate(new), known(candidate(old))).action is Action.INSERT


def test_reconcile__equal_claims_of_two_sources__are_contested():
    row = known(candidate("Dana works at Acme", agent="agent-1"))
    found = decide(candidate("Dana works at Globex", agent="agent-2"), row)
    assert (found.action, found.status) == (Action.CONTEST, Status.CONTESTED)


def test_reconcile__claims_about_different_subjects__keep_both():
    row = known(candidate("Lives in Bern", subject="user:1"))
    assert decide(candidate("Lives in Zurich", subject="user:2"), row).action is Action.INSERT
    assert decide(candidate("Lives in Zurich", subject="user:1"), row).action is Action.SUPERSEDE


def test_claim_of__other_language__is_none():
    for text in ("Wohnt in Bern", "Vive en Madrid", "ベルンに住んでいる"):
        assert claim_of(text) is None

"""Which of two statements lives."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.lifecycle import READABLE
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy, preset
from memory.domain.reconciliation import Action, Decision, reconcile
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.types import Candidate, Known, OutcomeKind, Status

from .candidates import NOON, candidate, known, triple

DEFAULT = Policy()


def decide(c: Candidate, *rows: Known, policy: Policy = DEFAULT, **more: Any) -> Decision:
    rule = DEFAULT_REGISTRY.lookup(c.predicate) if c.predicate else None
    hashed = value_hash(c.said, rule.normaliser) if rule else value_hash(c.said)
    return reconcile(c, rows, rule, policy, value_hash=hashed, now=NOON, **more)


def plan(value: str, **fields: Any) -> Candidate:
    return triple("plan", value, **fields)


def test_reconcile__nothing_known__is_stored():
    assert decide(plan("pro")) == Decision(OutcomeKind.STORED, Action.INSERT)


@pytest.mark.parametrize("spelling", ["pro", "Pro.", " PRO ", '"pro"'])
def test_reconcile__same_value__touches_the_known_row(spelling: str):
    row = known(plan("pro"))
    found = decide(plan(spelling), row)
    assert (found.outcome, found.action, found.targets, found.status) == (
        OutcomeKind.DUPLICATE,
        Action.TOUCH,
        (row.id,),
        None,
    )


def test_reconcile__same_value_from_a_less_trusted_origin__does_not_refresh():
    row = known(plan("pro", trust=0.9))
    assert not decide(plan("pro", trust=0.5), row).refreshes
    assert decide(plan("pro", trust=0.9), row).refreshes


def test_reconcile__same_value_in_another_session__is_a_reproduction():
    row = known(plan("pro", session="s1"))
    assert decide(plan("pro", session="s2"), row).reproduces
    assert not decide(plan("pro", session="s1"), row).reproduces
    assert not decide(plan("pro"), row).reproduces


def test_reconcile__shown_to_the_session_before__is_an_echo_and_counts_for_nothing():
    row = known(plan("pro", session="s1"))
    found = decide(plan("pro", session="s2"), row, shown_to_session={row.id})
    assert (found.outcome, found.action, found.refreshes, found.reproduces) == (
        OutcomeKind.ECHO,
        Action.NOTHING,
        False,
        False,
    )
    other_value = decide(plan("free", session="s2"), row, shown_to_session={row.id})
    assert other_value.outcome is OutcomeKind.SUPERSEDED


def test_reconcile__paraphrase_of_what_was_shown__is_an_echo():
    row = known(candidate("Deploys happen on Tuesdays"))
    found = decide(
        candidate("On Tuesdays deploys happen"), row, near=lambda a, b: "same", shown_to_session={row.id}
    )
    assert found.outcome is OutcomeKind.ECHO


def test_reconcile__other_value_from_the_same_source__supersedes():
    row = known(plan("pro"))
    found = decide(plan("enterprise"), row)
    assert (found.outcome, found.action, found.targets) == (
        OutcomeKind.SUPERSEDED,
        Action.SUPERSEDE,
        (row.id,),
    )


def test_reconcile__weaker_by_more_than_the_margin__is_a_conflict_and_the_old_value_stays():
    row = known(plan("pro", confidence=1.0, trust=0.8))
    found = decide(plan("free", confidence=1.0, trust=0.64), row)
    assert (found.outcome, found.action, found.reason, found.status) == (
        OutcomeKind.HELD,
        Action.HOLD,
        "conflict",
        Status.CANDIDATE,
    )
    assert decide(plan("free", confidence=1.0, trust=0.65), row).outcome is OutcomeKind.SUPERSEDED


def test_reconcile__equal_strength_from_another_source__is_contested():
    row = known(plan("pro", agent="agent-1"))
    found = decide(plan("free", agent="agent-2"), row)
    assert (found.outcome, found.action, found.status, found.targets) == (
        OutcomeKind.HELD,
        Action.CONTEST,
        Status.CONTESTED,
        (row.id,),
    )
    by_tool = decide(plan("free", tool="billing"), known(plan("pro", tool="crm")))
    assert by_tool.action is Action.CONTEST


def test_reconcile__another_source_with_a_later_start__supersedes():
    row = known(plan("pro", agent="agent-1", valid_from=NOON - timedelta(days=9)))
    newer = plan("free", agent="agent-2", valid_from=NOON - timedelta(days=2))
    assert decide(newer, row).action is Action.SUPERSEDE


def test_reconcile__news_about_a_volatile_fact_from_another_source__supersedes():
    row = known(triple("version", "1.2", agent="agent-1"))
    assert decide(triple("version", "1.3", agent="agent-2"), row).action is Action.SUPERSEDE


def test_reconcile__stronger_statement_of_another_source__supersedes():
    row = known(plan("pro", agent="agent-1", trust=0.5))
    assert decide(plan("free", agent="agent-2", trust=0.9), row).action is Action.SUPERSEDE


def test_reconcile__older_start_than_the_known_one__becomes_history():
    row = known(plan("pro", valid_from=NOON - timedelta(days=2)))
    found = decide(plan("free", valid_from=NOON - timedelta(days=9), trust=1.0, confidence=1.0), row)
    assert (found.outcome, found.action, found.status, found.targets) == (
        OutcomeKind.STORED,
        Action.INSERT_HISTORY,
        Status.SUPERSEDED,
        (row.id,),
    )


def test_reconcile__value_that_ended__becomes_history():
    row = known(plan("pro"))
    assert decide(plan("free", valid_to=NOON - timedelta(days=1)), row).action is Action.INSERT_HISTORY
    assert decide(plan("free", valid_to=NOON + timedelta(days=1)), row).action is Action.SUPERSEDE


def test_reconcile__pinned_value__yields_to_an_equal_and_not_to_a_weaker_one():
    row = known(plan("pro", trust=0.5), pinned=True)
    assert decide(plan("free", trust=0.45), row).action is Action.HOLD
    assert decide(plan("free", trust=0.5), row).action is Action.SUPERSEDE


def test_reconcile__contested_values__one_source_replaces_only_its_own():
    mine = known(plan("pro", agent="agent-1"), status=Status.CONTESTED)
    theirs = known(plan("free", agent="agent-2"), status=Status.CONTESTED)
    found = decide(plan("enterprise", agent="agent-1"), mine, theirs)
    assert (found.action, found.targets, found.status) == (Action.SUPERSEDE, (mine.id,), Status.CONTESTED)
    third = decide(plan("enterprise", agent="agent-3"), mine, theirs)
    assert (third.action, third.status) == (Action.CONTEST, Status.CONTESTED)
    settled = decide(plan("enterprise", agent="agent-3", trust=1.0, confidence=1.0), mine, theirs)
    assert (settled.action, set(settled.targets)) == (Action.SUPERSEDE, {mine.id, theirs.id})
    assert settled.status is Status.LIVE


def test_reconcile__multi_valued_predicate__keeps_both_values():
    row = known(triple("allergy", "peanuts"))
    assert decide(triple("allergy", "lactose"), row) == Decision(OutcomeKind.STORED, Action.INSERT)
    assert decide(triple("allergy", "Peanuts"), row).outcome is OutcomeKind.DUPLICATE


def test_reconcile__other_attribute_or_subject__is_left_alone():
    employer = known(triple("employer", "Acme", subject="dana"))
    assert (
        decide(triple("administers", "Acme's GitHub org", subject="dana"), employer).action is Action.INSERT
    )
    assert decide(triple("employer", "Globex", subject="kim"), employer).action is Action.INSERT
    assert decide(candidate("Dana works at Globex"), employer).action is Action.INSERT


@pytest.mark.parametrize("status", sorted(set(Status) - READABLE))
def test_reconcile__row_that_nobody_can_read__does_not_count(status: Status):
    row = known(plan("pro"), status=status)
    assert decide(plan("pro"), row).action is Action.INSERT
    assert decide(plan("free"), row).action is Action.INSERT


def test_reconcile__near_duplicate__keeps_the_stronger():
    row = known(candidate("We deploy on Tuesdays", trust=0.5))
    weaker = decide(candidate("Deploys are on Tuesdays", trust=0.4), row, near=lambda a, b: "same")
    assert (weaker.outcome, weaker.action, weaker.status) == (
        OutcomeKind.NEAR_DUPLICATE,
        Action.MERGE_INTO_KNOWN,
        Status.MERGED,
    )
    stronger_one = candidate("Deploys are on Tuesdays", trust=0.9)
    stronger = decide(stronger_one, row, near=lambda a, b: "same")
    assert (stronger.action, stronger.status, stronger.targets) == (
        Action.MERGE_INTO_NEW,
        Status.LIVE,
        (row.id,),
    )
    pinned = decide(stronger_one, replace(row, pinned=True), near=lambda a, b: "same")
    assert pinned.action is Action.MERGE_INTO_KNOWN


def test_reconcile__middle_band__keeps_both_and_links_them():
    row = known(candidate("Deploy window is Tuesday 14:00 UTC"))
    found = decide(candidate("We deploy on Tuesdays at 2pm UTC"), row, near=lambda a, b: "review")
    assert (found.outcome, found.action, found.linked) == (OutcomeKind.STORED, Action.INSERT, (row.id,))


def test_reconcile__policy_that_only_reviews__merges_nothing_by_likeness():
    policy = Policy.model_validate({"reconciliation": {"near_duplicates": "review"}})
    row = known(candidate("We deploy on Tuesdays"))
    found = decide(candidate("Deploys are on Tuesdays"), row, policy=policy, near=lambda a, b: "same")
    assert (found.action, found.linked) == (Action.INSERT, (row.id,))


def test_reconcile__preset_open__stores_everything_beside_the_rest():
    rows = [known(plan("pro")), known(plan("free"), agent="agent-2")]
    shown = {row.id for row in rows}
    for value in ("pro", "free", "enterprise"):
        found = decide(
            plan(value), *rows, policy=preset("open"), near=lambda a, b: "same", shown_to_session=shown
        )
        assert found == Decision(OutcomeKind.STORED, Action.INSERT)


class Shelf:
    """A scope in memory that does what the decisions say, to follow a chain of writes."""

    def __init__(self) -> None:
        self.rows: list[Known] = []
        self.replaced_by: dict[Any, Any] = {}

    def write(self, c: Candidate) -> Decision:
        found = decide(c, *self.rows)
        moved = {Action.SUPERSEDE: Status.SUPERSEDED, Action.CONTEST: Status.CONTESTED}.get(found.action)
        self.rows = [
            replace(row, status=moved) if moved and row.id in found.targets else row for row in self.rows
        ]
        if found.status is not None:
            row = known(c, status=found.status)
            self.rows.append(row)
            if found.action is Action.SUPERSEDE:
                self.replaced_by.update(dict.fromkeys(found.targets, row.id))
        return found

    def values(self, status: Status) -> list[str | None]:
        return [row.value for row in self.rows if row.status is status]


def test_reconcile__a_then_b_then_a__one_live_and_a_chain_without_cycle():
    shelf = Shelf()
    for name in ("Alice", "Bob", "Alice"):
        shelf.write(triple("name", name))
    assert (shelf.values(Status.LIVE), shelf.values(Status.SUPERSEDED)) == (["Alice"], ["Alice", "Bob"])
    first, second, third = shelf.rows
    assert shelf.replaced_by == {first.id: second.id, second.id: third.id}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pro", "free", "enterprise"]),
            st.sampled_from(["agent-1", "agent-2"]),
            st.sampled_from([0.4, 0.5, 0.9]),
            st.sampled_from([None, -9, -2]),
        ),
        max_size=8,
    )
)
def test_reconcile__any_chain_of_writes__never_leaves_two_live_values(
    writes: list[tuple[str, str, float, int | None]],
):
    shelf = Shelf()
    for value, agent, trust, days in writes:
        began = None if days is None else NOON + timedelta(days=days)
        shelf.write(plan(value, agent=agent, trust=trust, valid_from=began))
        live, contested = shelf.values(Status.LIVE), shelf.values(Status.CONTESTED)
        assert len(live) <= 1
        assert not (live and contested)
        assert live or contested, "a write never leaves a key without a readable value"
        assert len(contested) != 1, "nothing is contested alone"


def test_reconcile__what_has_ended__stands_against_nothing_and_is_replaced_with_the_rest():
    over = {"expires_at": NOON, "trust": 1.0, "confidence": 1.0}
    ended = known(plan("gold"), **over, pinned=True)
    weak = plan("bronze", trust=0.2, confidence=0.5)
    assert decide(weak, known(plan("gold"), trust=1.0, confidence=1.0)).action is Action.HOLD, (
        "positive control"
    )
    assert (decide(weak, ended).action, decide(weak, ended).targets) == (Action.SUPERSEDE, (ended.id,))
    standing = known(plan("silver", trust=0.2, confidence=0.5))
    found = decide(weak, ended, standing)
    assert found.action is Action.SUPERSEDE and set(found.targets) == {ended.id, standing.id}
    strong = known(plan("silver"), trust=0.9, confidence=0.9)
    held = decide(weak, ended, strong)
    assert (held.action, held.targets) == (Action.HOLD, (strong.id,))

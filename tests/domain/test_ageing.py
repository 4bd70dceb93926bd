"""Decay scores and age bands."""

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.decay import decay_score, guarded, should_evict, stale_confidence
from memory.domain.freshness import band, needs_reverify
from memory.domain.policy import Policy
from memory.domain.registry import DEFAULT_REGISTRY, PredicateRule, Registry
from memory.domain.types import Band, Kind
from memory.domain.values import Normaliser

from .candidates import NOON

DEFAULT = Policy()


@pytest.mark.parametrize(
    ("confidence", "idle", "uses", "score"),
    [
        (1.0, 0, 0, 0.6),
        (1.0, 30, 0, 0.6 / math.e),
        (0.5, 0, math.e - 1, 0.5 * (0.6 + 0.4 / 3)),
        (0.9, -5, 0, 0.54),
    ],
)
def test_decay_score__worked_examples__match_the_formula(
    confidence: float, idle: float, uses: float, score: float
):
    found = decay_score(confidence, idle, uses, DEFAULT)  # type: ignore[arg-type]
    assert found == pytest.approx(score)


@given(st.floats(0, 1), st.floats(0, 4000), st.integers(0, 10_000), st.floats(0, 100))
def test_decay_score__idleness_and_use__move_it_in_the_right_direction(
    confidence: float, idle: float, uses: int, more: float
):
    score = decay_score(confidence, idle, uses, DEFAULT)
    assert (
        decay_score(confidence, idle + more, uses, DEFAULT)
        <= score
        <= decay_score(confidence, idle, uses + 1, DEFAULT)
    )


def test_should_evict__idle_row__goes_and_its_pinned_or_used_twin_stays():
    idle = decay_score(0.7, 180, 0, DEFAULT)
    assert should_evict(idle, pinned=False, policy=DEFAULT)
    assert not should_evict(idle, pinned=True, policy=DEFAULT)
    assert not should_evict(decay_score(0.7, 180, 214, DEFAULT), pinned=False, policy=DEFAULT)
    assert not should_evict(DEFAULT.decay.floor, pinned=False, policy=DEFAULT)


def test_stale_confidence__half_life__halves_it():
    assert stale_confidence(0.8, 90, DEFAULT) == pytest.approx(0.4)
    assert stale_confidence(0.8, 10, DEFAULT, half_life_days=5) == pytest.approx(0.2)
    assert stale_confidence(0.8, -3, DEFAULT) == 0.8


def test_guarded__mass_removal__stops_above_a_fifth():
    assert not guarded(20, 100, DEFAULT)
    assert guarded(21, 100, DEFAULT)
    assert not guarded(3, 5, DEFAULT)


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(hours=-1), Band.FRESH),
        (timedelta(0), Band.FRESH),
        (timedelta(days=30), Band.FRESH),
        (timedelta(days=30) + SECOND, Band.AGING),
        (timedelta(days=90), Band.AGING),
        (timedelta(days=90) + SECOND, Band.OUTDATED),
    ],
)
def test_band__edges__are_exact(age: timedelta, expected: Band):
    assert band(Kind.FACT, None, NOON - age, NOON, DEFAULT) is expected


def test_band__birthday_and_version__age_differently():
    old = NOON - timedelta(days=4000)
    assert band(Kind.FACT, DEFAULT_REGISTRY.lookup("birthday"), old, NOON, DEFAULT) is Band.FRESH
    a_month = NOON - timedelta(days=29)
    assert band(Kind.FACT, DEFAULT_REGISTRY.lookup("version"), a_month, NOON, DEFAULT) is Band.AGING
    assert band(Kind.FACT, None, a_month, NOON, DEFAULT) is Band.FRESH


def test_band__policy_for_a_kind__applies_to_that_kind_only():
    policy = Policy.model_validate({"freshness": {"bands": {"event": {"fresh_days": 1, "aging_days": 2}}}})
    then = NOON - timedelta(days=3)
    assert band(Kind.EVENT, None, then, NOON, policy) is Band.OUTDATED
    assert band(Kind.FACT, None, then, NOON, policy) is Band.FRESH


def test_needs_reverify__version_after_45_days__yes_and_birthday_no():
    then = NOON - timedelta(days=45)
    assert needs_reverify(Kind.FACT, DEFAULT_REGISTRY.lookup("version"), then, NOON, DEFAULT)
    assert not needs_reverify(Kind.FACT, DEFAULT_REGISTRY.lookup("birthday"), then, NOON, DEFAULT)
    assert not needs_reverify(Kind.FACT, None, then, NOON, DEFAULT)
    assert needs_reverify(Kind.FACT, None, NOON, NOON, DEFAULT, review_by=NOON)


def test_registry__spellings_and_aliases__reach_one_rule():
    assert {DEFAULT_REGISTRY.canonical(p) for p in ("Time Zone", "tz", "timezone", "timeZone")} == {
        "timezone"
    }
    for name in ("plan", "timezone", "city", "project", "favourite_editor", "default branch"):
        assert DEFAULT_REGISTRY.lookup(name).single_valued


def test_registry__unknown_predicate__is_multi_valued():
    rule = DEFAULT_REGISTRY.lookup("Likes to Eat")
    assert rule == PredicateRule("likes_to_eat") and not rule.single_valued


def test_registry__rule_of_the_tenant__comes_before_the_built_in_one():
    own = Registry(
        [
            PredicateRule("city", single_valued=False),
            PredicateRule("mrr", True, normaliser=Normaliser.CURRENCY),
        ]
    )
    assert not own.lookup("city").single_valued
    assert own.lookup("MRR").normaliser is Normaliser.CURRENCY
    assert DEFAULT_REGISTRY.lookup("city").single_valued

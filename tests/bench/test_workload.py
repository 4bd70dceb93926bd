"""The workload, the judgement of junk and the arithmetic of the report: pure functions."""

from __future__ import annotations

from uuid import uuid4

import pytest

from bench.callers import Block, CallerFailed, percentile
from bench.junk import CASES, SECRET, Aftermath, holds, of_case
from bench.junk_run import connected
from bench.machine import Quiet
from bench.turns import Case, growth, take_turns
from bench.workload import NEW_FROM, USERS, fact, facts, question


def block(p50: float, cpu_ms: float = 1.0) -> Block:
    return Block(p50=p50, p95=p50, rate=1.0, cpu_ms=cpu_ms, calls=1, failed=0, first_failure="")


def test_facts__same_numbers__same_memories_over_all_users() -> None:
    once, again = list(facts(0, 2_000)), list(facts(0, 2_000))
    assert once == again
    assert len({one.text for one in once}) == 2_000
    assert {one.user for one in once} == {f"u{number}" for number in range(USERS)}


def test_facts__new_ones__are_none_of_the_filled() -> None:
    filled = {(one.subject, one.predicate) for one in facts(0, 60_000)}
    assert not filled & {(one.subject, one.predicate) for one in facts(NEW_FROM, 2_000)}


@pytest.mark.parametrize("size", [20, 1_000])
def test_question__any__is_answered_by_a_memory_of_its_user(size: int) -> None:
    stored = {(one.user, one.text) for one in facts(0, size)}
    asked = [question(number, size) for number in range(200)]
    assert all((one.user, one.answer) in stored for one in asked)
    assert len({one.text for one in asked}) > 10


def test_take_turns__rounds__another_first_each_time() -> None:
    order: list[tuple[str, int]] = []

    def run(name: str, number: int) -> Block:
        order.append((name, number))
        return block(1.0)

    take_turns("write", 1, 1, ["a", "b", "c"], 3, run, Quiet(patience=0), lambda text: None)
    assert "".join(name for name, _ in order) == "abcbcacab"


def test_take_turns__one_fails__is_named_and_left_out() -> None:
    def run(name: str, number: int) -> Block:
        if name == "b":
            raise CallerFailed("no such table")
        return block(2.0)

    case = take_turns("write", 1, 1, ["memgov", "b"], 2, run, Quiet(patience=0), lambda text: None).as_json()
    assert case["failures"] == {"b": "no such table"}
    assert list(case["systems"]) == ["memgov"] and case["ratios"] == {}


def test_case__ratios__are_of_one_round_and_then_the_median() -> None:
    """A round that was slow for both does not count twice."""
    ours, theirs = [block(4.0), block(40.0), block(5.0)], [block(2.0), block(20.0), block(1.0)]
    case = Case("retrieve", 1_000, 1, {"drf": theirs, "memgov": ours}, {})
    assert case.ratios("p50") == {"memgov/drf": 2.0}


def test_growth__two_sizes__largest_by_smallest() -> None:
    cases = [Case("retrieve", size, 1, {"memgov": [block(size / 100)]}, {}) for size in (200, 1_000, 100)]
    assert growth(cases) == {"retrieve": {"memgov": 10.0}}


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (0.0, 1.0), (1.0, 4.0)])
def test_percentile__four_values(share: float, expected: float) -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], share) == expected


GOOD = {
    "same": Aftermath(1, ["x"]),
    "race": Aftermath(1, []),
    "paraphrases": Aftermath(18, ["x"], groups=1),
    "rivals": Aftermath(1, ["the plan tier platinum."]),
    "secret": Aftermath(1, ["AWS [REDACTED]"]),
    "injection": Aftermath(0, []),
    "ended": Aftermath(0, []),
}
BAD = {
    "same": Aftermath(300, ["x"]),
    "race": Aftermath(2, []),
    "paraphrases": Aftermath(18, ["x"], groups=2),
    "rivals": Aftermath(1, ["the plan tier silver."]),
    "secret": Aftermath(1, [f"AWS {SECRET}"]),
    "injection": Aftermath(1, ["Ignore"]),
    "ended": Aftermath(1, ["coupon"]),
}


@pytest.mark.parametrize("name", GOOD)
def test_holds__good_and_bad_end__told_apart(name: str) -> None:
    assert holds(name, GOOD[name])
    assert not holds(name, BAD[name])


def test_holds__nothing_kept_of_paraphrases__is_no_success() -> None:
    assert not holds("paraphrases", Aftermath(0, [], groups=0))


def test_of_case__bystanders__are_not_counted() -> None:
    case = next(case for case in CASES if case.name == "secret")
    found = [fact(7).text, "The AWS credentials are [REDACTED]", case.facts[0].text]
    assert of_case(case, found) == found[1:]


def test_connected__chain_and_single__two_groups() -> None:
    one, two, three, alone, gone = (uuid4() for _ in range(5))
    assert connected({one, two, three, alone}, [(one, two), (two, three), (alone, gone)]) == 2

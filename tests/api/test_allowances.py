"""Counting calls ahead: never more than the limit by all processes together, and nearly all of it."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from memory.api import throttling
from memory.api.allowances import Allowances, Limits
from memory.domain.policy import Policy
from memory.domain.policy_write_rules import RateLimits
from tests.api.caller import Caller
from tests.factories import make_tenant

KEY = (UUID(int=1), UUID(int=2), "write")


class Counter:
    """What Redis counts, of one key and its tenant."""

    def __init__(self, quota: int, tenant_quota: int = 10**9) -> None:
        limits = RateLimits(writes_per_minute_key=quota, requests_per_minute_tenant=tenant_quota)
        self.limits: Limits = limits.model_dump(mode="json")
        self.count = self.asked = 0

    def call(self, process: Allowances, now: float, cost: int = 1, window: int = 1) -> bool:
        """Whether a process allows a call."""
        used = process.taken(KEY, window, now, cost)
        if used is None:
            more = process.wanted(KEY, window, now)
            self.asked += 1
            self.count += cost + more
            used = process.counted(KEY, window, now, (self.count, self.count), more, self.limits)
        return used.left >= 0


@pytest.mark.parametrize(("quota", "tenant_quota"), [(1000, 10**9), (10**9, 1000), (1000, 1000), (7, 9)])
def test_processes__together__allow_the_limit_and_no_more(quota: int, tenant_quota: int) -> None:
    least = min(quota, tenant_quota)
    for seed in range(30):
        draw, counter = random.Random(seed), Counter(quota, tenant_quota)
        processes = [Allowances() for _ in range(4)]
        calls = [(draw.choice(processes), call / 1000) for call in range(2 * least)]
        allowed = sum(counter.call(process, now) for process, now in calls)
        assert least * 0.98 - 4 <= allowed <= least


def test_frequent_calls__ask_the_counter_seldom() -> None:
    counter, process = Counter(100_000), Allowances()
    assert all(counter.call(process, call / 200) for call in range(2000))  # for ten seconds
    assert counter.asked < 40


def test_seldom_calls__are_counted_one_by_one() -> None:
    counter, process = Counter(100_000), Allowances()
    assert all(counter.call(process, call * 1.5) for call in range(30))
    assert counter.asked == counter.count == 30


def test_new_minute__begins_with_nothing_counted_ahead() -> None:
    counter, process = Counter(1000), Allowances()
    for call in range(20):
        counter.call(process, call / 1000)
    assert counter.count > 20
    counter.count = 0  # Redis has a key for each minute
    assert counter.call(process, 0.03, window=2) and counter.count == 1


def test_batch__larger_than_what_is_ahead__is_asked_for() -> None:
    counter, process = Counter(1000), Allowances()
    for call in range(20):
        counter.call(process, call / 1000)
    before = counter.asked
    assert counter.call(process, 0.03, cost=500) and counter.asked == before + 1
    assert not counter.call(process, 0.04, cost=600)


def test_changed_limit__is_known_within_a_second() -> None:
    counter, process = Counter(100_000), Allowances()
    for call in range(50):
        counter.call(process, call / 1000)
    counter.limits = Counter(10).limits
    assert counter.call(process, 0.06) and not counter.call(process, 1.2)


def test_calls__of_a_busy_key__send_nothing_to_redis_for_most(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = RateLimits(reads_per_minute_key=100_000, requests_per_minute_tenant=100_000)
    coder, counted, asked = (
        Caller(make_tenant(policy=Policy(rate_limits=limits)).coder),
        throttling._counted,
        [],
    )
    monkeypatch.setattr(throttling, "_counted", lambda *given: asked.append(given) or counted(*given))
    left = [int(coder.get("whoami")["RateLimit"].split("r=")[1].split(";")[0]) for _ in range(30)]
    assert len(asked) < 15
    assert left == sorted(left, reverse=True) and len(set(left)) > 28  # two where a minute ends

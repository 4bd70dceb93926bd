"""When the way to the product fails: what is tried again, what is not, and that nothing is done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from memgov_client import LostError, RateLimitedError, RetryPolicy, ServerFaultError, UnexpectedAnswerError

from memory.domain.policy import Policy
from memory.domain.policy_write_rules import RateLimits
from memory.models import Memory, WriteDecision
from tests.browser import Web
from tests.client.both import Driven
from tests.client.faulty import Proxy, faulty
from tests.factories import Stage, make_tenant

FACT = "Refunds above 50 euros need a second approval."
QUICK = RetryPolicy(first_pause=0.01)


@pytest.fixture
def proxy(web: Web) -> Iterator[Proxy]:
    """What stands before the product."""
    with faulty(web.url) as made:
        yield made


@pytest.fixture
def behind(connect: Callable[..., Driven], stage: Stage, proxy: Proxy) -> Driven:
    """The coder's client behind the proxy."""
    return connect(stage.coder, url=proxy.url, retries=QUICK)


def test_write__whose_answers_are_lost__is_repeated_under_one_key_and_stored_once(
    behind: Driven, proxy: Proxy, stage: Stage
) -> None:
    proxy.faults = ["lose_answer", "lose_request"]
    outcome = behind.write(FACT, scope="project:alpha", origin="user_explicit")
    assert outcome.outcome == "stored", "the first answer is replayed, not a duplicate reported"
    assert len(proxy.seen) == 3 and len({key for _, key in proxy.seen}) == 1 and proxy.seen[0][1]
    behind.write(FACT, scope="project:alpha", origin="user_explicit")
    assert proxy.seen[3][1] != proxy.seen[0][1], "another call has another key"
    with stage.context():
        assert Memory.objects.count() == 1 and WriteDecision.objects.count() == 2


def test_read__is_repeated__and_a_key_of_ones_own_is_kept(behind: Driven, proxy: Proxy) -> None:
    proxy.faults = ["lose_request", "page"]
    assert behind.retrieve("refunds").entries == []
    proxy.faults = ["lose_answer"]
    behind.write(FACT, idempotency_key="mine-1", origin="user_explicit")
    assert proxy.seen[-2:] == [("POST", "mine-1")] * 2


def test_edit_and_delete__whose_answer_is_lost__are_not_sent_again(behind: Driven, proxy: Proxy) -> None:
    memory = behind.write(FACT, origin="user_explicit").memory
    for attempt in (
        lambda: behind.edit(memory.id, version=1, importance=0.9),
        lambda: behind.delete(memory.id, "wrong"),
    ):
        proxy.faults, before = ["lose_answer"], len(proxy.seen)
        with pytest.raises(LostError):
            attempt()
        assert len(proxy.seen) == before + 1


def test_retry_after__is_waited_for(behind: Driven, proxy: Proxy) -> None:
    proxy.faults = ["busy"]
    began = time.monotonic()
    assert behind.whoami().role == "coder"
    assert 1.0 <= time.monotonic() - began < 5


def test_trouble_that_stays__is_raised_after_the_attempts(behind: Driven, proxy: Proxy) -> None:
    proxy.faults = ["lose_request"] * 9
    with pytest.raises(LostError, match="whoami"):
        behind.whoami()
    assert len(proxy.seen) == QUICK.attempts
    proxy.faults = ["page"] * 9
    with pytest.raises(UnexpectedAnswerError, match="proxy"):
        behind.whoami()


def test_busy_for_longer_than_one_may_wait__is_raised_at_once(
    connect: Callable[..., Driven], stage: Stage, proxy: Proxy
) -> None:
    hurried = connect(stage.coder, url=proxy.url, retries=RetryPolicy(max_wait=0.5))
    proxy.faults = ["busy"]
    with pytest.raises(ServerFaultError) as raised:
        hurried.whoami()
    assert raised.value.retry_after == 1 and len(proxy.seen) == 1


def test_rate_limit__of_the_real_product__says_when(connect: Callable[..., Driven]) -> None:
    stage = make_tenant(policy=Policy(rate_limits=RateLimits(reads_per_minute_key=1)))
    client = connect(stage.coder, retries=RetryPolicy(max_wait=0))
    with pytest.raises(RateLimitedError) as raised:
        for _ in range(3):  # a minute may turn in between
            client.whoami()
    assert 0 < raised.value.retry_after <= 60


def test_nobody_there__is_lost_and_says_where(connect: Callable[..., Driven], stage: Stage) -> None:
    nowhere = connect(stage.coder, url="http://127.0.0.1:9", retries=QUICK)
    with pytest.raises(LostError, match="GET whoami: Connect"):
        nowhere.whoami()


def test_address_of_something_else__says_that_it_is_not_the_api(
    connect: Callable[..., Driven], stage: Stage, web: Web
) -> None:
    wrong = connect(stage.coder, url=f"{web.url}/accounts")
    with pytest.raises(UnexpectedAnswerError, match="is the address right"):
        wrong.whoami()

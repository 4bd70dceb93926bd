import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.health import METRICS, cleared, share, state, wilson


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_metrics__each__is_explained_and_its_thresholds_are_in_order(metric):
    assert metric.label and metric.formula
    if metric.better == "neither":
        assert metric.watch is None and metric.breach is None
    else:
        assert metric.watch is not None and metric.breach is not None
        assert metric.watch <= metric.breach if metric.better == "lower" else metric.watch >= metric.breach


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("cross_scope_leaks", 0, "ok"),
        ("cross_scope_leaks", 1, "breach"),
        ("hit_rate", 0.5, "ok"),
        ("hit_rate", 0.3, "watch"),
        ("hit_rate", 0.1, "breach"),
        ("stale_share", 0.79, "watch"),
        ("stale_share", 0.80, "breach"),
        ("live_facts", 10**6, "ok"),
        ("regret", None, "no_data"),
        ("regret", float("nan"), "no_data"),
    ],
)
def test_state__value_at_a_threshold__is_in_the_worse_state(name: str, value: float | None, expected: str):
    assert state(METRICS[name], value) == expected


def test_state__thresholds_of_the_tenant__replace_the_defaults():
    assert state(METRICS["hit_rate"], 0.2, {"watch": 0.1, "breach": 0.05}) == "ok"
    assert state(METRICS["hit_rate"], 0.2, {"watch": None, "breach": None}) == "ok"


def test_cleared__just_back_over_the_threshold__does_not_flap():
    stale_share = METRICS["stale_share"]
    assert not cleared(stale_share, 0.80, 0.8) and not cleared(stale_share, 0.795, 0.8)
    assert cleared(stale_share, 0.79, 0.8)
    assert cleared(METRICS["hit_rate"], 0.32, 0.3) and not cleared(METRICS["hit_rate"], 0.3, 0.3)
    assert not cleared(stale_share, None, 0.8)


def test_share__nothing_to_divide_by__is_no_data():
    assert share(0, 0) is None and share(1, 4) == 0.25


def test_wilson__known_example__matches():
    low, high = wilson(10, 100) or (0, 0)
    assert (low, high) == (pytest.approx(0.0552, abs=1e-4), pytest.approx(0.1744, abs=1e-4))
    assert wilson(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson__any_sample__holds_the_rate_within_zero_and_one(sample: tuple[int, int]):
    hits, trials = sample
    low, high = wilson(hits, trials) or (1, 0)
    assert 0 <= low <= hits / trials + 1e-9 and hits / trials - 1e-9 <= high <= 1

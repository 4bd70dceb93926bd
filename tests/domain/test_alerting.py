"""When an alert begins and ends, how long is waited, and what a message holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.alerting import (
    MOST_ATTEMPTS,
    Level,
    Rule,
    cloud_event,
    default_rule,
    metric_message,
    next_level,
    told_to,
    wait_after,
)
from memory.domain.health import METRICS

STALE, HITS = METRICS["stale_share"], METRICS["hit_rate"]
BREACH = Rule(0.5, 0.8)
WATCH = Rule(0.5, 0.8, tell="watch")


def run(rule: Rule, values: list[float | None], metric: object = STALE) -> list[Level]:
    levels: list[Level] = []
    for value in values:
        levels.append(next_level(metric, rule, value, levels[-1] if levels else ""))  # type: ignore[arg-type]
    return levels


def test_level__up_at_once__down_only_by_the_slack() -> None:
    assert run(BREACH, [0.7, 0.81, 0.80, 0.795, 0.79, 0.7]) == ["", "breach", "breach", "breach", "", ""]
    assert run(WATCH, [0.49, 0.5, 0.9, 0.793, 0.6, 0.499, 0.49]) == [
        "", "watch", "breach", "breach", "watch", "watch", "",
    ]  # fmt: skip


def test_level__no_data__changes_nothing() -> None:
    assert run(BREACH, [None, 0.9, None, None, 0.1, None]) == ["", "breach", "breach", "breach", "", ""]


def test_level__higher_is_better__is_mirrored() -> None:
    rule = Rule(0.3, 0.1, tell="watch")
    assert run(rule, [0.31, 0.3, 0.1, 0.1005, 0.2, 0.302, 0.31], HITS) == [
        "", "watch", "breach", "breach", "watch", "watch", "",
    ]  # fmt: skip


def test_level__switched_off__is_none_and_ends_what_stood() -> None:
    assert next_level(STALE, Rule(0.5, 0.8, tell="never"), 0.99, "breach") == ""


@given(st.lists(st.floats(0.793, 0.9), min_size=2, max_size=30))
def test_level__within_the_slack__never_flaps(values: list[float]) -> None:
    levels = run(BREACH, [0.8, *values])
    assert set(levels) == {"breach"}


@given(st.lists(st.none() | st.floats(0, 1), max_size=20), st.sampled_from([BREACH, WATCH]))
def test_level__below_every_threshold_by_the_slack__always_ends(
    values: list[float | None], rule: Rule
) -> None:
    assert run(rule, [*values, 0.4])[-1] == ""


@given(st.floats(0, 1), st.sampled_from(["", "watch", "breach"]))
def test_level__told_only_at_breach__is_never_watch(value: float, standing: Level) -> None:
    if standing != "watch":
        assert next_level(STALE, BREACH, value, standing) != "watch"


def test_defaults__tenant_at_breach_and_single_scopes_never() -> None:
    assert default_rule(STALE, "").tell == "breach"
    assert default_rule(STALE, "project:alpha").tell == "never"


def test_waits__grow_and_end() -> None:
    waits = [wait_after(n) for n in range(1, MOST_ATTEMPTS + 1)]
    assert waits[0] == timedelta(seconds=5) and waits[-1] is None
    known = [one for one in waits if one is not None]
    assert known == sorted(known) and sum(known, timedelta()) > timedelta(days=1)


@pytest.mark.parametrize(
    ("least", "severity", "told"),
    [("warning", "warning", True), ("critical", "warning", False), ("critical", "critical", True)],
)
def test_channels__want_their_severity(least: str, severity: str, told: bool) -> None:
    assert told_to(least, severity) is told


def test_messages__say_value_threshold_and_scope() -> None:
    text = metric_message("stale_share", "project:alpha", "breach", 0.81, BREACH)
    assert text == "Stale share of project:alpha is 81 %, at or above 80 % (breach)."
    event = cloud_event(
        "dlv_1", "https://here/t/acme/", "opened", datetime(2026, 1, 1, tzinfo=UTC), {"id": "alr_1"}
    )
    assert {"specversion", "id", "source", "type"} <= event.keys()
    assert (event["type"], event["subject"], event["time"]) == (
        "memgov.alert.opened",
        "alr_1",
        "2026-01-01T00:00:00+00:00",
    )

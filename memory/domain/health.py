"""What health is measured by: each metric's meaning, unit, direction, thresholds and state.

Definitions only. Computing a value from rows and keeping it over time is done by selectors and services.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Better = Literal["higher", "lower", "neither"]
Unit = Literal["count", "share", "entries", "tokens", "days"]
State = Literal["ok", "watch", "breach", "no_data"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. A value at `watch` or `breach`, or beyond it in the bad direction, is in that state."""

    name: str
    label: str
    unit: Unit
    better: Better
    formula: str
    watch: float | None = None
    breach: float | None = None


_ALL: Final = (
    Metric("live_facts", "Live facts", "count", "neither", "rows that a reader could get now"),
    Metric(
        "duplicate_groups",
        "Duplicate groups",
        "count",
        "lower",
        "clusters of two or more live rows of one scope that say the same, exactly or nearly",
        1,
        10,
    ),
    Metric(
        "contradictions",
        "Contradictions",
        "count",
        "lower",
        "single-valued keys with more than one live value, plus open conflicts",
        1,
        10,
    ),
    Metric(
        "hit_rate",
        "Retrieval hit rate",
        "share",
        "higher",
        "used ÷ injected, over manifests with a usage report",
        0.3,
        0.1,
    ),
    Metric(
        "usage_coverage",
        "Usage reports",
        "share",
        "higher",
        "manifests with a usage report ÷ manifests",
        0.5,
        0.1,
    ),
    Metric(
        "cross_scope_leaks",
        "Cross-scope leaks",
        "count",
        "lower",
        "injected entries whose scope the caller could not read, re-checked from the grants",
        1,
        1,
    ),
    Metric(
        "injected_mean",
        "Injected per retrieval",
        "entries",
        "neither",
        "mean number of entries per manifest",
    ),
    Metric(
        "injected_p95",
        "Injected per retrieval, p95",
        "entries",
        "lower",
        "95th percentile of entries per manifest",
        20,
        50,
    ),
    Metric("injected_tokens_mean", "Injected tokens", "tokens", "neither", "mean tokens per manifest"),
    Metric(
        "injected_tokens_p95",
        "Injected tokens, p95",
        "tokens",
        "lower",
        "95th percentile of tokens per manifest",
        3000,
        8000,
    ),
    Metric(
        "expired_not_cleaned",
        "Expired, not cleaned",
        "share",
        "lower",
        "rows past expires_at still in a live status ÷ rows in a live status",
        0.02,
        0.10,
    ),
    Metric(
        "miswrite_rate",
        "Miswrite rate",
        "share",
        "lower",
        "rows of a random sample that reviewers judged wrong ÷ rows judged",
        0.05,
        0.15,
    ),
    Metric("regret", "Regret", "share", "lower", "evictions later restored ÷ evictions", 0.05, 0.15),
    Metric(
        "stale_share", "Stale share", "share", "lower", "live rows in the outdated band ÷ live rows", 0.5, 0.8
    ),
    Metric("quarantine_rate", "Quarantine rate", "share", "lower", "writes quarantined ÷ writes", 0.05, 0.20),
    Metric(
        "review_queue_age",
        "Review queue age",
        "days",
        "lower",
        "age of the oldest item that awaits a person",
        3,
        7,
    ),
    Metric("echo_rate", "Echo rate", "share", "lower", "writes recognised as echoes ÷ writes", 0.10, 0.30),
    Metric(
        "top_source_share",
        "Top source share",
        "share",
        "lower",
        "entries of the most injected source ÷ injected entries, over recent manifests",
        0.5,
        0.8,
    ),
    Metric(
        "unindexed_rows",
        "Unindexed rows",
        "count",
        "lower",
        "live rows without an embedding of the present model",
        1,
        100,
    ),
)

METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _ALL}

# What stands beside the metrics to make them readable: no state, no threshold.
DETAILS: Final[dict[str, str]] = {
    "fresh": "live facts in the fresh band",
    "aging": "live facts in the aging band: to be verified before anybody relies on them",
    "outdated": "live facts in the outdated band: not given in digests",
    "to_verify": "live facts that await a look: their review is due, or they are volatile and no longer fresh",
    "never_used": "live facts that no agent has reported using",
    "never_given": "live facts that nobody was given in the last 30 days",
    "miswrite_low": "lower end of the 95% confidence interval of the miswrite rate",
    "miswrite_high": "upper end of the 95% confidence interval of the miswrite rate",
    "miswrite_judged": "entries of samples that reviewers judged right or wrong in the last 90 days",
}


def state(metric: Metric, value: float | None, thresholds: Mapping[str, float | None] | None = None) -> State:
    """ok, watch or breach by the metric's thresholds, or by a tenant's own ({"watch": …, "breach": …})."""
    if value is None or math.isnan(value):
        return "no_data"
    own = thresholds or {}
    if _reached(metric, value, own.get("breach", metric.breach)):
        return "breach"
    return "watch" if _reached(metric, value, own.get("watch", metric.watch)) else "ok"


def _reached(metric: Metric, value: float, threshold: float | None) -> bool:
    if threshold is None or metric.better == "neither":
        return False
    return value >= threshold if metric.better == "lower" else value <= threshold


def cleared(metric: Metric, value: float | None, threshold: float, slack: float = 0.01) -> bool:
    """Whether an alert may end: the value is back by `slack` of the threshold (at least), so none flaps."""
    if value is None:
        return False
    margin = abs(threshold) * slack
    return value < threshold - margin if metric.better == "lower" else value > threshold + margin


def share(part: float, whole: float) -> float | None:
    """part ÷ whole; None where there is nothing to divide by, which is no data and not zero."""
    return part / whole if whole else None


def wilson(hits: int, trials: int, z: float = 1.96) -> tuple[float, float] | None:
    """Confidence interval of a share, 95% by default; None without trials.

    The score interval of E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927), 209-212: right for small samples and shares near 0,
    where the plain interval is not.
    """
    if trials <= 0:
        return None
    rate = hits / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)


Figures = Mapping[str, float | None]
Spread = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What is kept of one period: its figures and, where it stands for several, the lowest and highest of each."""

    figures: Figures
    spread: Mapping[str, Sequence[float]]
    hours: int = 1


def fold(readings: Sequence[Reading]) -> Reading:
    """The readings of one day, in the order of time, as one.

    The day shows what its last hour showed, a missing figure included, so that a chart is the same before and
    after.  What was lowest and highest in between is kept beside it.  Folding what was folded changes nothing.
    """
    if not readings:
        raise ValueError("there is nothing to fold")
    spread: Spread = {}
    for reading in readings:
        for name, value in reading.figures.items():
            low, high = reading.spread.get(name) or (value, value)
            if low is None or high is None:
                continue
            known = spread.get(name, (low, high))
            spread[name] = (min(known[0], low), max(known[1], high))
    return Reading(dict(readings[-1].figures), spread, sum(reading.hours for reading in readings))

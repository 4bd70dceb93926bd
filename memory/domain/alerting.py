"""When a metric raises an alert and when that ends, how an alert is told, and how often that is tried.

Pure: values and instants in, levels and messages out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from memory.domain.health import METRICS, Metric, cleared, state

Level = Literal["", "watch", "breach"]
Tell = Literal["watch", "breach", "never"]
Severity = Literal["warning", "critical"]

TELL: Final[tuple[Tell, ...]] = ("watch", "breach", "never")
_RANK: Final = {"": 0, "watch": 1, "breach": 2}
SEVERITY: Final[Mapping[str, Severity]] = {"watch": "warning", "breach": "critical"}

# How long to wait after the first, second … failure; as recommended by standardwebhooks.com.
_WAITS: Final = tuple(timedelta(seconds=one) for one in (5, 300, 1800, 7200, 18000, 36000, 36000))
MOST_ATTEMPTS: Final = len(_WAITS) + 1


@dataclass(frozen=True, slots=True)
class Rule:
    """Thresholds of one metric of one scope, from which of them on it is told, and what keeps it from flapping.

    `slack` is the part of a threshold by which the value has to be better before the alert ends. Within
    `quiet_minutes` after an alert the same one is opened again instead of told anew.
    """

    watch: float | None
    breach: float | None
    tell: Tell = "breach"
    slack: float = 0.01
    quiet_minutes: int = 1440

    def thresholds(self) -> dict[str, float | None]:
        return {"watch": self.watch, "breach": self.breach}


# With one agent all comes from one source, and who reports no uses has none: shown, but no news.
_QUIET: Final = frozenset({"top_source_share", "usage_coverage"})


def default_rule(metric: Metric, scope: str) -> Rule:
    """Of the whole tenant a breach is told; a single scope is told only where somebody asked for it."""
    return Rule(metric.watch, metric.breach, "never" if scope or metric.name in _QUIET else "breach")


def next_level(metric: Metric, rule: Rule, value: float | None, standing: Level) -> Level:
    """The level after a measurement.  Up at once; down only when the value is back by the slack; no data changes
    nothing."""
    if rule.tell == "never":
        return ""
    if value is None:
        return standing
    now = state(metric, value, rule.thresholds())
    wanted: Level = now if now in ("watch", "breach") else ""
    if wanted == "watch" and rule.tell == "breach":
        wanted = ""
    if _RANK[wanted] >= _RANK[standing]:
        return wanted
    if standing == "breach" and not _better(metric, value, rule.breach, rule.slack):
        return "breach"
    if wanted == "" and rule.tell == "watch" and not _better(metric, value, rule.watch, rule.slack):
        return "watch"
    return wanted


def _better(metric: Metric, value: float, threshold: float | None, slack: float) -> bool:
    return threshold is None or cleared(metric, value, threshold, slack)


def told_to(least: str, severity: str) -> bool:
    """Whether a channel that wants at least `least` is told of this severity."""
    return least == "warning" or severity == "critical"


def wait_after(attempts: int) -> timedelta | None:
    """How long to wait after so many attempts that failed; None when it is given up."""
    return _WAITS[attempts - 1] if attempts <= len(_WAITS) else None


def in_figures(metric: Metric, value: float | None) -> str:
    """A value with its unit, for messages."""
    if value is None:
        return "no data"
    if metric.unit == "share":
        return f"{value * 100:.4g} %"
    if metric.unit == "days":  # to the tenth, as everywhere
        return f"{round(value, 1):g} days"
    units = {"tokens": " tokens", "entries": " entries"}
    return f"{value:.4g}{units.get(metric.unit, '')}"


def metric_message(name: str, scope: str, level: str, value: float | None, rule: Rule) -> str:
    """One sentence about a metric beyond its threshold."""
    metric = METRICS[name]
    edge = rule.breach if level == "breach" else rule.watch
    side = "above" if metric.better == "lower" else "below"
    where = scope or "the whole tenant"
    now, limit = in_figures(metric, value), in_figures(metric, edge)
    return f"{metric.label} of {where} is {now}, at or {side} {limit} ({level})."


def cloud_event(
    message_id: str, source: str, event: str, at: datetime, data: Mapping[str, Any]
) -> dict[str, Any]:
    """The message as a CloudEvent 1.0 in structured JSON.  Holds no memory text."""
    return {
        "specversion": "1.0",
        "id": message_id,
        "source": source,
        "type": f"memgov.alert.{event}",
        "time": at.isoformat(),
        "subject": str(data.get("id") or "test"),
        "datacontenttype": "application/json",
        "data": dict(data),
    }

"""Metrics as the pages show them: value with its unit, state, target in words, change over a week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from memory.domain.health import Metric, state
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.selectors.health import Point

# States of the domain → states of the chips.
_STATES = {"ok": "ok", "watch": "warn", "breach": "bad", "no_data": "nodata"}
_UNITS = {"count": "", "share": " %", "entries": "", "tokens": "", "days": " d"}


def chip_state(metric: Metric, value: float | None) -> str:
    """The state of a value as the chip names it; a metric without thresholds is neither good nor bad."""
    found = _STATES[state(metric, value)]
    return "info" if found == "ok" and metric.watch is None else found


def unit(metric: Metric) -> str:
    """The unit as it follows the number."""
    return _(" d") if metric.unit == "days" else _UNITS[metric.unit]


def scaled(metric: Metric, value: float | None) -> float | None:
    """The number that is shown: shares as percent."""
    if value is None:
        return None
    return value * 100 if metric.unit == "share" else value


def number(metric: Metric, value: float | None) -> str:
    """The value as text, without its unit."""
    shown = scaled(metric, value)
    if shown is None:
        return "–"
    places = 0 if metric.unit in ("count", "tokens") or float(shown).is_integer() else 1
    return number_format(shown, decimal_pos=places, use_l10n=True, force_grouping=True)


def target_text(metric: Metric) -> str:
    """What the metric should be, in words."""
    if metric.watch is None:
        return _("no threshold")
    edge = f"{number(metric, metric.watch)}{unit(metric)}"
    if metric.better == "higher":
        return _("should be above %(edge)s") % {"edge": edge}
    return _("should be below %(edge)s") % {"edge": edge}


def outside_range(viewer: Viewer, point: Point | None, metrics: Mapping[str, Metric]) -> list[dict[str, Any]]:
    """The metrics of the last snapshot that need a look by the tenant's thresholds, the worst first."""
    if point is None:
        return []
    rows = [
        {
            "name": _(metric.label),
            "url": url(viewer, "health", metric=name),
            "value": number(metric, point.figures.get(name)),
            "unit": unit(metric),
            "st": chip_state(metric, point.figures.get(name)),
            "target": target_text(metric),
        }
        for name, metric in metrics.items()
    ]
    return sorted((row for row in rows if row["st"] in ("warn", "bad")), key=lambda row: row["st"] != "bad")


def tile(
    metric: Metric, now: Mapping[str, float | None], points: Sequence[Point], chosen: str
) -> dict[str, Any]:
    """One metric with its last value, its line and what changed in a week."""
    value = now.get(metric.name)
    delta, tone = _delta(metric, value, points)
    return {
        "slug": metric.name,
        "name": _(metric.label),
        "value": number(metric, value),
        "unit": unit(metric),
        "st": chip_state(metric, value),
        "delta": delta,
        "tone": tone,
        "target": target_text(metric),
        "note": _(metric.formula),
        "series": [scaled(metric, point.figures.get(metric.name)) for point in points],
        "on": metric.name == chosen,
    }


def _delta(metric: Metric, value: float | None, points: Sequence[Point]) -> tuple[str, str]:
    """The change against a week ago with its sign, and whether that is good or worse."""
    if value is None or not points:
        return "", "flat"
    edge = points[-1].period - timedelta(days=7)
    before = next((p.figures.get(metric.name) for p in reversed(points) if p.period <= edge), None)
    if before is None:
        return "", "flat"
    change = value - before
    if number(metric, abs(change)) in (number(metric, 0.0), "0.0"):
        return "±0", "flat"
    sign = "+" if change > 0 else "−"
    measure = _(" pt") if metric.unit == "share" else unit(metric)
    text = f"{sign}{number(metric, abs(change))}{measure}"
    if metric.better == "neither":
        return text, "flat"
    return text, "good" if (change > 0) == (metric.better == "higher") else "worse"

"""Health: every metric as a tile, one over time as a chart, a table and a file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from io import StringIO
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.health import METRICS, Metric
from memory.models import PolicyVersion
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, target, url
from memory.pages.audit import inert_cell
from memory.pages.figure import metric_figure
from memory.pages.metrics import number, scaled, tile
from memory.pages.wording import change_words
from memory.selectors import health, pages_health, pages_sample
from memory.selectors.alert_rules import metrics_of
from memory.selectors.health import Point
from tenants.context import tenant_context

RANGES = (7, 30, 90)
# Up to so many days are drawn hour by hour.
HOURLY = 7
# plotly.js adds an empty style element and fills it through the CSSOM: this is the hash of nothing.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the URL asks: a metric, a number of days, a scope ("" is the whole tenant)."""

    metric: Metric
    days: int
    scope: str


def _asked(request: HttpRequest) -> Asked:
    """Read kindly: what is unknown becomes the first metric, 90 days, the whole tenant."""
    metric = METRICS.get(request.GET.get("metric", "")) or next(iter(METRICS.values()))
    days = request.GET.get("range", "")
    known = int(days) if days in {str(one) for one in RANGES} else 90
    return Asked(metric, known, request.GET.get("scope", "").replace("\x00", "")[:200])


@csp_update({"style-src": [EMPTY_STYLE]})
@tenant_page("health")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The tiles and the chosen metric; over htmx only the latter."""
    asked, now = _asked(request), clock.now()
    with tenant_context(viewer.tenant.id):
        metrics = metrics_of(asked.scope)
        asked = replace(asked, metric=metrics[asked.metric.name])
        days = pages_health.by_day(asked.scope, now, asked.days)
        points = [point for point in days if point is not None]
        figures = points[-1].figures if points else {}
        marks = pages_health.policy_marks(now - timedelta(days=asked.days))
        live = pages_health.live_now(asked.scope, now)
        if figures and live is not None:
            # What was written or deleted a moment ago is counted at once; all else is of the last measuring.
            figures = {**figures, "live_facts": live}
        context = _focus(viewer, asked, now, days, figures, marks)
        if target(request) == "focus":
            return answer(request, "pages/health/_focus.html", context)
        context |= _overview(asked, metrics.values(), points, days, figures)
        return answer(request, "pages/health/index.html", context)


def _overview(
    asked: Asked,
    metrics: Iterable[Metric],
    points: Sequence[Point],
    days: Sequence[Point | None],
    figures: dict[str, float | None],
) -> dict[str, Any]:
    tiles = [
        tile(metric, figures, points, asked.metric.name) | {"series": _series(metric, days)}
        for metric in metrics
    ]
    measured_at = points[-1].period if points else None
    return {
        "tiles": tiles,
        "worst": [one for one in tiles if one["st"] in ("warn", "bad")],
        "ranges": RANGES,
        "scopes": health.scopes(),
        "measured_at": measured_at,
        "next_at": None,
        "scope_label": asked.scope or _("all scopes"),
        "to_judge": pages_sample.waiting().count(),
        "ages": _ages(figures),
    }


def _ages(figures: dict[str, float | None]) -> dict[str, Any] | None:
    """How old what is known is; None before the first measuring."""
    live = figures.get("live_facts")
    parts = {name: figures.get(name) for name in ("fresh", "aging", "outdated")}
    if live is None or None in parts.values():
        return None
    measured = sum(count or 0 for count in parts.values())
    rows = [
        {"band": name, "count": count, "share": (count or 0) / measured if measured else 0}
        for name, count in parts.items()
    ]
    return {
        "rows": rows,
        "total": live,
        "unused": figures.get("never_used"),
        "ungiven": figures.get("never_given"),
        "to_verify": figures.get("to_verify"),
    }


def _series(metric: Metric, days: Sequence[Point | None]) -> list[float | None]:
    return [scaled(metric, day.figures.get(metric.name)) if day else None for day in days]


def _focus(
    viewer: Viewer,
    asked: Asked,
    now: datetime,
    days: Sequence[Point | None],
    figures: dict[str, float | None],
    marks: Sequence[PolicyVersion],
) -> dict[str, Any]:
    metric, points = asked.metric, [day for day in days if day is not None]
    rows = list(zip(_dates(now, asked.days), days, strict=True))
    return {
        "cur": tile(metric, figures, points, metric.name),
        "metric": metric.name,
        "days": asked.days,
        "scope": asked.scope,
        "interval": _interval(metric, figures),
        "marks": [
            {
                "n": at,
                "url": url(viewer, "policy", mark.number),
                "name": _("version %(n)d") % {"n": mark.number},
                "what": "; ".join(map(change_words, mark.changes[:3])) or mark.reason,
                "at": mark.activated_at,
                "who": mark.created_by,
            }
            for at, mark in enumerate(marks, 1)
        ],
        "table": [
            {"at": day, "value": _shown(metric, point), "spread": _spread(metric, point)}
            for day, point in reversed(rows)
        ],
    }


def _interval(metric: Metric, figures: dict[str, float | None]) -> dict[str, str] | None:
    """The confidence interval of a rate that comes from a sample."""
    low, high, judged = (figures.get(f"miswrite_{name}") for name in ("low", "high", "judged"))
    if metric.name != "miswrite_rate" or low is None or high is None:
        return None
    return {"low": number(metric, low), "high": number(metric, high), "judged": f"{judged or 0:.0f}"}


def _shown(metric: Metric, point: Point | None) -> str | None:
    value = point.figures.get(metric.name) if point else None
    return None if value is None else number(metric, value)


def _spread(metric: Metric, point: Point | None) -> str:
    """Lowest to highest of a day of which only that is kept; "" where hours stand for themselves."""
    low, high = (point.spread.get(metric.name) if point else None) or (None, None)
    return "" if low is None or low == high else f"{number(metric, low)}–{number(metric, high)}"


def _dates(now: datetime, days: int) -> list[date]:
    return [now.date() - timedelta(days=days - 1 - at) for at in range(days)]


def _points(asked: Asked, now: datetime) -> list[tuple[date, Point | None]]:
    """What is drawn: hours where the range is short, else days.  Inside the tenant's context."""
    if asked.days <= HOURLY:
        return [(hour, point) for hour, point in pages_health.by_hour(asked.scope, now, asked.days)]
    return list(zip(_dates(now, asked.days), pages_health.by_day(asked.scope, now, asked.days), strict=True))


# In the heads of files, which machines read: the same in every language.
_UNITS = {"share": "%", "days": "d"}


@tenant_page("health")
def figure(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The chart of one metric."""
    asked, now = _asked(request), clock.now()
    with tenant_context(viewer.tenant.id):
        points = _points(asked, now)
        metric = metrics_of(asked.scope)[asked.metric.name]
        marks = pages_health.policy_marks(now - timedelta(days=asked.days))
    rows = [(at, point.figures.get(asked.metric.name) if point else None) for at, point in points]
    named = [(mark.activated_at.date(), f"version {mark.number}") for mark in marks if mark.activated_at]
    return JsonResponse(metric_figure(metric, _(metric.label), rows, named))


@tenant_page("health")
def series_csv(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The numbers, one line an hour or a day: of one metric, or with `metric=all` of all.  No data is an empty cell."""
    asked, now = _asked(request), clock.now()
    metrics = list(METRICS.values()) if request.GET.get("metric") == "all" else [asked.metric]
    with tenant_context(viewer.tenant.id):
        points = _points(asked, now)
    file = StringIO()
    writer = csv.writer(file)
    names = [f"{metric.name} ({_UNITS.get(metric.unit, metric.unit)})" for metric in metrics]
    writer.writerow(["hour" if asked.days <= HOURLY else "day", "measured_at", "scope", *names])
    for at, point in points:
        values = [scaled(metric, point.figures.get(metric.name)) if point else None for metric in metrics]
        cells = ["" if value is None else value for value in values]
        measured = point.period.isoformat() if point else ""
        writer.writerow([at.isoformat(), measured, inert_cell(asked.scope), *cells])
    response = HttpResponse(file.getvalue(), content_type="text/csv; charset=utf-8")
    name = asked.metric.name if len(metrics) == 1 else "health"
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


@tenant_page("health")
def series_json(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The same with every figure, as they are stored: shares from 0 to 1, no data null."""
    asked, now = _asked(request), clock.now()
    with tenant_context(viewer.tenant.id):
        points = _points(asked, now)
    return JsonResponse(
        {
            "scope": asked.scope or None,
            "step": "hour" if asked.days <= HOURLY else "day",
            "units": {name: metric.unit for name, metric in METRICS.items()},
            "points": [
                {
                    "at": at.isoformat(),
                    "measured_at": point.period.isoformat() if point else None,
                    "figures": point.figures if point else None,
                }
                for at, point in points
            ],
        }
    )

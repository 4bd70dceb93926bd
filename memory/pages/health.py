"""Health: every metric as a tile, one over time as a chart, a table and a file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
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
from memory.pages.metrics import number, scaled, tile, unit
from memory.selectors import health, pages_health
from memory.selectors.health import Point
from tenants.context import tenant_context

RANGES = (7, 30, 90)
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
        days = pages_health.by_day(asked.scope, now, asked.days)
        points = [point for point in days if point is not None]
        figures = points[-1].figures if points else {}
        marks = pages_health.policy_marks(now - timedelta(days=asked.days))
        context = _focus(viewer, asked, now, days, figures, marks)
        if target(request) == "focus":
            return answer(request, "pages/health/_focus.html", context)
        return answer(request, "pages/health/index.html", context | _overview(asked, points, days, figures))


def _overview(
    asked: Asked, points: Sequence[Point], days: Sequence[Point | None], figures: dict[str, float | None]
) -> dict[str, Any]:
    tiles = [
        tile(metric, figures, points, asked.metric.name) | {"series": _series(metric, days)}
        for metric in METRICS.values()
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
        "marks": [
            {
                "n": at,
                "url": url(viewer, "policy", mark.number),
                "name": _("version %(n)d") % {"n": mark.number},
                "what": "; ".join(mark.changes[:3]) or mark.reason,
                "at": mark.activated_at,
                "who": mark.created_by,
            }
            for at, mark in enumerate(marks, 1)
        ],
        "table": [{"at": day, "value": _shown(metric, point)} for day, point in reversed(rows)],
    }


def _shown(metric: Metric, point: Point | None) -> str | None:
    value = point.figures.get(metric.name) if point else None
    return None if value is None else number(metric, value)


def _dates(now: datetime, days: int) -> list[date]:
    return [now.date() - timedelta(days=days - 1 - at) for at in range(days)]


@tenant_page("health")
def figure(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The chart of one metric."""
    asked, now = _asked(request), clock.now()
    with tenant_context(viewer.tenant.id):
        days = pages_health.by_day(asked.scope, now, asked.days)
        marks = pages_health.policy_marks(now - timedelta(days=asked.days))
    values = [point.figures.get(asked.metric.name) if point else None for point in days]
    named = [(mark.activated_at.date(), f"version {mark.number}") for mark in marks if mark.activated_at]
    rows = list(zip(_dates(now, asked.days), values, strict=True))
    return JsonResponse(metric_figure(asked.metric, _(asked.metric.label), rows, named))


@tenant_page("health")
def series_csv(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The numbers of one metric, one line a day; a day without data is an empty cell."""
    asked, now = _asked(request), clock.now()
    with tenant_context(viewer.tenant.id):
        days = pages_health.by_day(asked.scope, now, asked.days)
    file = StringIO()
    writer = csv.writer(file)
    name = f"{asked.metric.name} ({unit(asked.metric).strip() or asked.metric.unit})"
    writer.writerow(["day", "measured_at", "scope", name])
    for day, point in zip(_dates(now, asked.days), days, strict=True):
        value = scaled(asked.metric, point.figures.get(asked.metric.name)) if point else None
        at = point.period.isoformat() if point else ""
        writer.writerow([day.isoformat(), at, inert_cell(asked.scope), "" if value is None else value])
    response = HttpResponse(file.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{asked.metric.name}.csv"'
    return response

"""The chart of one metric as plotly builds it, with roles (`$accent`) in place of colours.

The page fills the roles in from its theme, so that a change of theme needs no new request.  No text here may hold
markup: plotly.js would turn it into style attributes, which the content security policy blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
from django.utils.formats import get_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memory.domain.health import Metric
from memory.pages.metrics import number, scaled, unit

# Plotly checks colours, so a figure is built with stand-ins that are exchanged for the roles at the end.
_ROLES = {
    "$accent": "#0000a1",
    "$accentSoft": "#0000a2",
    "$warn": "#0000a3",
    "$bad": "#0000a4",
    "$policy": "#0000a5",
    "$surface": "#0000a6",
}
_BACK = {stand_in: role for role, stand_in in _ROLES.items()}

# Days, or hours (a datetime is a date).
Days = Sequence[tuple[date, float | None]]


def metric_figure(
    metric: Metric, label: str, days: Days, marks: Sequence[tuple[date, str]]
) -> dict[str, Any]:
    """`{"data": […], "layout": {…}}`.  A gap in the series is a gap in the line; marks are numbered."""
    figure = go.Figure(layout=go.Layout(template=go.layout.Template()))
    for run in _stretches(metric, days):
        figure.add_trace(_trace(metric, label, run))
    edges = [
        (edge, role) for edge, role in ((metric.watch, "$warn"), (metric.breach, "$bad")) if edge is not None
    ]
    for edge, role in edges:
        _threshold(figure, metric, edge, role)
    for at, (day, name) in enumerate(marks, 1):
        _mark(figure, at, day, name)
    first, last = days[0][0].isoformat(), days[-1][0].isoformat()
    figure.update_xaxes(
        type="date", range=[first, last], tickformat=pgettext("date format of a chart", "%-d %b"), nticks=8
    )
    low, high = _bounds(metric, days, [edge for edge, _role in edges])
    figure.update_yaxes(range=[low, high], ticksuffix=unit(metric))
    figure.update_layout(separators=f"{get_format('DECIMAL_SEPARATOR')}{get_format('THOUSAND_SEPARATOR')}")
    built = figure.to_plotly_json()
    built["layout"].pop("template", None)
    exchanged: dict[str, Any] = _exchanged(built)
    return exchanged


def _stretches(metric: Metric, days: Days) -> list[list[tuple[str, float]]]:
    runs: list[list[tuple[str, float]]] = [[]]
    for day, value in days:
        shown = scaled(metric, value)
        if shown is None:
            runs.append([])
        else:
            runs[-1].append((day.isoformat(), round(shown, 4)))
    return [run for run in runs if run]


def _trace(metric: Metric, label: str, run: Sequence[tuple[str, float]]) -> Any:
    return go.Scatter(
        x=[day for day, _value in run],
        y=[value for _day, value in run],
        name=label,
        mode="lines" if len(run) > 1 else "markers",
        line={"color": _ROLES["$accent"], "width": 2},
        marker={"color": _ROLES["$accent"], "size": 6},
        fill="tozeroy" if metric.better != "neither" else None,
        fillcolor=_ROLES["$accentSoft"],
        hovertemplate=f"%{{y:.4~g}}{unit(metric)}<extra></extra>",
    )


def _threshold(figure: Any, metric: Metric, edge: float, role: str) -> None:
    height = scaled(metric, edge)
    line = {"color": _ROLES[role], "width": 1.25, "dash": "dash"}
    figure.add_shape(type="line", xref="paper", x0=0, x1=1, y0=height, y1=height, line=line)
    words = _("watch") if role == "$warn" else _("breach")
    figure.add_annotation(
        xref="paper", x=1, xanchor="left", xshift=6, y=height, showarrow=False,
        text=f"{words} {number(metric, edge)}", font={"size": 11, "color": _ROLES[role]},
    )  # fmt: skip


def _mark(figure: Any, at: int, day: date, name: str) -> None:
    line = {"color": _ROLES["$policy"], "width": 1.25, "dash": "dot"}
    figure.add_shape(type="line", x0=day.isoformat(), x1=day.isoformat(), yref="paper", y0=0, y1=1, line=line)
    figure.add_annotation(
        x=day.isoformat(), yref="paper", y=1, yanchor="bottom", showarrow=False, text=str(at), hovertext=name,
        font={"size": 11, "color": _ROLES["$surface"]}, bgcolor=_ROLES["$policy"], borderpad=2,
    )  # fmt: skip


def _bounds(metric: Metric, days: Days, edges: Sequence[float]) -> tuple[float, float]:
    """From zero up to what is to be seen: values, and thresholds that are near them."""
    values = [value for _day, value in days if value is not None]
    top = max([*values, *edges], default=1.0)
    high = (scaled(metric, top) or 0) * 1.08
    return 0.0, high if high > 0 else 1.0


def _exchanged(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _exchanged(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_exchanged(value) for value in part]
    return _BACK.get(part, part) if isinstance(part, str) else part

"""The year as a small picture: readable rows and hit rate by month, with sweeps and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _PLOT_W, _PLOT_H = 720, 250, 46, 44, 280, 150
_STYLE = (
    "text{font:12px sans-serif;fill:#53606d}.t{font-weight:600;fill:#16202a}"
    ".on{stroke:#0b6670;fill:none;stroke-width:2}"
    ".off{stroke:#ad1f1f;fill:none;stroke-width:2;stroke-dasharray:5 4}.g{stroke:#dde2e8}.w{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#a3b0bd}.t{fill:#e7ecf1}.on{stroke:#5ecbd4}.off{stroke:#ff9d94}"
    ".g{stroke:#2a3540}.w{fill:#0f1419}}"
)


def picture(found: dict[str, Any]) -> str:
    """An SVG of what `bench.year.run` found."""
    swept, unswept = found["columns"]["swept"], found["columns"]["unswept"]
    shares = [
        [None if one is None else one * 100 for one in of["hit_rate_by_month"]] for of in (swept, unswept)
    ]
    panels = [
        _panel(_LEFT, "Readable memories", "", [swept["live_by_month"], unswept["live_by_month"]]),
        _panel(_LEFT + 366, "Hit rate: used of given", " %", shares),
    ]
    title = escape(f"A year of {found['scale']}: with sweeps (solid) and without (dashed)")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">'
        f'<style>{_STYLE}</style><rect class="w" width="{_WIDTH}" height="{_HEIGHT}"/>'
        f'<text class="t" x="{_LEFT}" y="18">{title}</text>{"".join(panels)}</svg>\n'
    )


def _panel(left: int, title: str, unit: str, lines: Sequence[Sequence[float | None]]) -> str:
    top = max((value for line in lines for value in line if value is not None), default=1) * 1.1 or 1
    parts = [f'<text class="t" x="{left}" y="{_TOP - 6}">{title}</text>']
    for step in range(3):
        y = _TOP + _PLOT_H * (1 - step / 2)
        parts.append(f'<line class="g" x1="{left}" x2="{left + _PLOT_W}" y1="{y:.0f}" y2="{y:.0f}"/>')
        parts.append(
            f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{top * step / 2:.0f}{unit}</text>'
        )
    for month in (1, 4, 8, 12):
        x = _x(left, month, len(lines[0]))
        parts.append(f'<text x="{x:.0f}" y="{_TOP + _PLOT_H + 18}" text-anchor="middle">month {month}</text>')
    for name, line in zip(("on", "off"), lines, strict=True):
        points = [
            f"{_x(left, at, len(line)):.1f},{_TOP + _PLOT_H * (1 - value / top):.1f}"
            for at, value in enumerate(line, 1)
            if value is not None
        ]
        parts.append(f'<polyline class="{name}" points="{" ".join(points)}"/>')
    return "".join(parts)


def _x(left: int, month: int, months: int) -> float:
    return left + _PLOT_W * (month - 1) / max(months - 1, 1)

"""Charts of the report as inline SVG: no script, nothing from outside, readable without colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

_WIDTH: Final = 720
_ROW: Final = 30
_LABEL: Final = 170
_FIGURES: Final = 120
_COLUMNS: Final = 48
"""Months that the age chart shows at most."""


def stacked(parts: Sequence[tuple[str, str, int]]) -> str:
    """One bar of (css class, title, count), in proportion, with the titles for screen readers."""
    total = sum(count for _, _, count in parts)
    if not total:
        return ""
    drawn, at = [], 0.0
    for css, title, count in parts:
        width = _WIDTH * count / total
        said = escape(f"{title}: {count:,} of {total:,}")
        drawn.append(
            f'<rect class="{css}" x="{at:.1f}" y="0" width="{max(width - 1, 0.5):.1f}" height="34" rx="2">'
            f"<title>{said}</title></rect>"
        )
        at += width
    label = escape("; ".join(f"{title} {count:,}" for _, title, count in parts))
    box = f'viewBox="0 0 {_WIDTH} 34" preserveAspectRatio="none"'
    return f'<svg {box} role="img" aria-label="{label}">{"".join(drawn)}</svg>'


def bars(rows: Sequence[tuple[str, str, float | None, str]]) -> str:
    """A row for each (css class, title, share, figures). The track is all rows; a share of None is dashed: it was not
    measured."""
    full = _WIDTH - _LABEL - _FIGURES
    drawn = []
    for at, (css, title, share, figures) in enumerate(rows):
        top = at * _ROW
        drawn.append(f'<text class="label" x="0" y="{top + 20}">{escape(title)}</text>')
        if share is None:
            drawn.append(
                f'<rect class="unmeasured" x="{_LABEL}" y="{top + 6}" width="{full}" height="18" rx="3"/>'
            )
        else:
            drawn.append(
                f'<rect class="track" x="{_LABEL}" y="{top + 6}" width="{full}" height="18" rx="3"/>'
            )
            width = full * share
            if share:
                drawn.append(
                    f'<rect class="{css}" x="{_LABEL}" y="{top + 6}" width="{max(width, 3):.1f}" height="18" rx="3"/>'
                )
        drawn.append(
            f'<text class="figure" x="{_WIDTH}" y="{top + 20}" text-anchor="end">{escape(figures)}</text>'
        )
    label = escape("; ".join(f"{title}: {figures}" for _, title, _, figures in rows))
    return f'<svg viewBox="0 0 {_WIDTH} {_ROW * len(rows)}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'


def months(counts: Mapping[str, int]) -> str:
    """Columns of rows by the month in which they were last written, the newest on the right."""
    shown = _every_month(sorted(counts))[-_COLUMNS:]
    most = max((counts.get(month, 0) for month in shown), default=0)
    if not most:
        return ""
    step = _WIDTH / len(shown)
    drawn = []
    for at, month in enumerate(shown):
        count = counts.get(month, 0)
        height = 110 * count / most
        drawn.append(
            f'<rect class="months" x="{at * step:.1f}" y="{120 - height:.1f}" width="{max(min(step - 2, 40), 1):.1f}" '
            f'height="{height:.1f}" rx="2"><title>{escape(month)}: {count:,}</title></rect>'
        )
    for at in sorted({0, len(shown) - 1}):
        anchor = "start" if at == 0 else "end"
        x = 0 if at == 0 else _WIDTH
        drawn.append(f'<text class="label" x="{x}" y="140" text-anchor="{anchor}">{escape(shown[at])}</text>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} 146" role="img" aria-label="rows by month, at most {most:,} in one">'
        f"{''.join(drawn)}</svg>"
    )


def _every_month(known: Sequence[str]) -> list[str]:
    """All months from the first to the last, so that a gap is seen as one."""
    if not known:
        return []
    first, last = (int(month[:4]) * 12 + int(month[5:7]) - 1 for month in (known[0], known[-1]))
    return [f"{number // 12:04d}-{number % 12 + 1:02d}" for number in range(first, last + 1)]

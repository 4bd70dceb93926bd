"""The report as one page that can be sent to a colleague: no script, no file or address from outside.

Everything from the audited file is escaped here; secrets were masked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from memory.audit import charts
from memory.audit.as_text import percent
from memory.audit.model import JUNK, KEEP, VERDICTS, Category, Item, Report
from memory.audit.page_style import STYLE
from memory.audit.words import MEANINGS, TITLES

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_REMARKS: Final = (Category.SECRET, Category.INSTRUCTION, Category.PERSONAL, Category.SIMILAR)
_LISTED: Final = 300
"""Rows under one heading of the page."""


def as_html(report: Report) -> str:
    """The whole page."""
    title = f"Memory audit: {report.name}"
    body = "\n".join((*_head(report), *_charts(report), *_findings(report), *_foot(report)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n{body}\n</main></body></html>\n"
    )


def _head(report: Report) -> Iterator[str]:
    total = report.records
    yield f"<header><p class=kind>Memory audit</p><h1>{escape(report.name)}</h1>"
    yield f"<p class=lead>{_lead(report)}</p></header>"
    if not total:
        return
    tiles = (
        (
            "rows read",
            f"{total:,}",
            f"{report.unreadable:,} not readable" if report.unreadable else "all readable",
        ),
        ("worth keeping", percent(report.kept / total), f"{report.kept:,} rows"),
        ("junk", percent(report.junk / total), f"{report.junk:,} rows"),
        ("said before", percent(_repeated(report) / total), f"{_repeated(report):,} rows"),
        ("with a secret", _count(report, Category.SECRET), "masked in this report"),
    )
    yield "<ul class=tiles>"
    for name, figure, note in tiles:
        yield f"<li><b>{escape(figure)}</b><span>{escape(name)}</span><small>{escape(note)}</small></li>"
    yield "</ul>"


def _lead(report: Report) -> str:
    if not report.records:
        return "No row could be read."
    kinds = sorted({source.title for source in report.sources if source.records})
    made = f"{report.made_at:%Y-%m-%d %H:%M} UTC"
    return f"{escape(', '.join(kinds))}. Audited on {made}; nothing left this machine."


def _repeated(report: Report) -> int:
    return report.verdicts[Category.EXACT_DUPLICATE] + report.verdicts[Category.NEAR_DUPLICATE]


def _count(report: Report, category: Category) -> str:
    tally = report.tallies[category]
    return "–" if tally.rate is None else f"{tally.count:,}"


def _charts(report: Report) -> Iterator[str]:
    if not report.records:
        return
    parts = [
        (f"c-{one}", TITLES[one], report.verdicts[one]) for one in (KEEP, *VERDICTS) if report.verdicts[one]
    ]
    yield "<section><h2>What becomes of each row</h2>"
    yield f"<figure class=verdicts>{charts.stacked(parts)}</figure><ul class=legend>"
    for css, title, count in parts:
        share = percent(count / report.records)
        yield f'<li><i class="{css}"></i>{escape(title)} <b>{count:,}</b> <span>{share}</span></li>'
    yield "</ul></section>"
    yield "<section><h2>Everything that was found</h2><p>A row can have several findings.</p>"
    yield f"<figure>{charts.bars([_bar(report, category) for category in Category])}</figure>"
    yield from _unmeasured(report)
    yield "</section>"
    if report.months:
        yield "<section><h2>When rows were last written</h2>"
        yield f"<figure>{charts.months(report.months)}</figure></section>"


def _bar(report: Report, category: Category) -> tuple[str, str, float | None, str]:
    tally = report.tallies[category]
    of = f" of {tally.of:,}" if tally.of != report.records else ""
    figures = "not measurable" if tally.rate is None else f"{tally.count:,}{of} · {percent(tally.rate)}"
    return f"c-{category.value}", TITLES[category], tally.rate, figures


def _unmeasured(report: Report) -> Iterator[str]:
    silent = [(one, report.tallies[one].why_not) for one in Category if report.tallies[one].rate is None]
    if silent:
        said = "; ".join(f"{TITLES[category].lower()}: {why}" for category, why in silent)
        yield f"<p class=note>Not measurable in this store is not the same as none: {escape(said)}.</p>"


def _findings(report: Report) -> Iterator[str]:
    for verdict in VERDICTS:
        yield from _group(report, verdict, [item for item in report.items if item.verdict == verdict])
    for remark in _REMARKS:
        rows = [item for item in report.items if any(one.category is remark for one in item.findings)]
        yield from _group(report, remark, rows)


def _group(report: Report, category: Category, rows: list[Item]) -> Iterator[str]:
    if not rows:
        return
    opened = " open" if category in (*JUNK, Category.SECRET) else ""
    yield f'<details{opened}><summary><i class="c-{category.value}"></i>{escape(TITLES[category])}'
    yield f"<b>{report.tallies[category].count:,}</b><span>{escape(MEANINGS[category])}</span></summary>"
    yield "<table class=items><thead><tr><th>where<th>what it says<th>why<th>rule</tr></thead><tbody>"
    for item in rows[:_LISTED]:
        yield _row(item, category, several=len(report.sources) > 1)
    yield "</tbody></table>"
    if report.tallies[category].count > len(rows[:_LISTED]):
        yield f"<p class=note>The first {len(rows[:_LISTED]):,} are listed.</p>"
    yield "</details>"


def _row(item: Item, category: Category, *, several: bool) -> str:
    found = next(one for one in item.findings if one.category is category)
    where = f"{item.source}, {item.pointer}" if several else item.pointer
    cells = (
        escape(where),
        f"<bdi>{escape(item.text)}</bdi>",
        escape(found.why),
        f"<code>{escape(found.rule)}</code>",
    )
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells) + "</tr>"


def _foot(report: Report) -> Iterator[str]:
    yield "<section><h2>What was read</h2><table><thead><tr><th>source<th>read as<th>rows<th>not readable<th>left out"
    yield "</tr></thead><tbody>"
    for source in report.sources:
        left = "; ".join(f"{count:,} × {what}" for what, count in sorted(source.notes.items()))
        cells = (source.name, source.title, f"{source.records:,}", f"{source.unreadable:,}", left)
        yield "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "</tr>"
    yield "</tbody></table>"
    if report.broken:
        yield "<details><summary>Not readable, skipped</summary><ul>"
        for name, pointer, problem in report.broken[:_LISTED]:
            yield f"<li>{escape(name)}, {escape(pointer)}: {escape(problem)}</li>"
        yield "</ul></details>"
    for limit in report.limits:
        yield f"<p class=note>{escape(limit)}</p>"
    yield (
        "<p class=note>Rows are judged by grammar and shape, without a model. A finding is a reason to look, and "
        "its absence is no proof. Made by memgov.</p></section>"
    )

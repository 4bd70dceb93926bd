"""The report as text for a terminal: totals, rates, and the reason for every row that is listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memory.audit.model import KEEP, VERDICTS, Category, Item, Report
from memory.audit.words import MEANINGS, TITLES

_BAR: Final = 24
_REMARKS: Final = (Category.SECRET, Category.INSTRUCTION, Category.PERSONAL, Category.SIMILAR)


def as_text(report: Report, *, most: int = 100) -> str:
    """The whole report; at most `most` rows under each heading."""
    return (
        "\n".join((*_head(report), *_verdicts(report), *_table(report), *_lists(report, most), *_end(report)))
        + "\n"
    )


def percent(share: float | None) -> str:
    """`12%`, `0.3%`, and a dash for what was not measured."""
    if share is None:
        return "–"
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _head(report: Report) -> Iterator[str]:
    for source in report.sources:
        skipped = f", {source.unreadable:,} not readable" if source.unreadable else ""
        yield f"{source.name}: {source.title}, {source.records:,} rows{skipped}"
        for what, count in sorted(source.notes.items()):
            yield f"    {count:,} × {what}"
    yield ""


def _verdicts(report: Report) -> Iterator[str]:
    total = report.records
    if not total:
        yield "There is nothing to judge."
        return
    yield f"Of {total:,} rows {report.kept:,} are worth keeping ({percent(report.kept / total)})."
    for verdict in (KEEP, *VERDICTS):
        if count := report.verdicts[verdict]:
            bar = "█" * max(1, round(_BAR * count / total))
            yield f"  {TITLES[verdict]:<22}{count:>9,}  {percent(count / total):>6}  {bar}"


def _table(report: Report) -> Iterator[str]:
    yield ""
    yield "Everything that was found (a row can have several):"
    for category in Category:
        tally = report.tallies[category]
        if tally.rate is None:
            yield f"  {TITLES[category]:<22}{'not measurable':>17}: {tally.why_not}"
        else:
            of = "" if tally.of == report.records else f"  of {tally.of:,} that can tell"
            yield f"  {TITLES[category]:<22}{tally.count:>9,}  {percent(tally.rate):>6}{of}"


def _lists(report: Report, most: int) -> Iterator[str]:
    for verdict in VERDICTS:
        yield from _list(report, verdict, [item for item in report.items if item.verdict == verdict], most)
    for remark in _REMARKS:
        rows = [item for item in report.items if any(one.category is remark for one in item.findings)]
        yield from _list(report, remark, rows, most)


def _list(report: Report, category: Category, rows: list[Item], most: int) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"{TITLES[category]}: {MEANINGS[category]}"
    several = len(report.sources) > 1
    for item in rows[:most]:
        found = next(one for one in item.findings if one.category is category)
        where = f"{item.source}, {item.pointer}" if several else item.pointer
        yield f"  {where}: {item.text}"
        yield f"      {found.why}  [{found.rule}]"
    if len(rows) > most:
        more = report.tallies[category].count - most
        yield f"  … and {more:,} more (--limit N shows more, --json all that are listed)"


def _end(report: Report) -> Iterator[str]:
    if report.broken:
        yield ""
        yield "Not readable, skipped:"
        for source, pointer, problem in report.broken:
            yield f"  {source}, {pointer}: {problem}"
    if report.limits:
        yield ""
        yield from report.limits

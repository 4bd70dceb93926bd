"""The audit itself: rows go by once, and what is counted, compared and kept as evidence stays bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.audit.ages import stale
from memory.audit.alike import Alike, Comparison
from memory.audit.judgement import Looked, Texts, look
from memory.audit.known import MOST_KEYS, Repetitions, Values
from memory.audit.model import JUNK, KEEP, VERDICTS, Category, Finding, Item, Report, SourceReport, Tally
from memory.audit.visible import masked, visible
from memory.audit.workers import in_order
from memory.importers import ForeignRecord, Note, Part, Reading, Unreadable

ALL_LISTED: Final = 2_000
"""Up to this many rows every row is listed, also those worth keeping."""
MOST_ITEMS: Final = 500
"""Rows listed for one verdict beyond that."""
MOST_BROKEN: Final = 500

_REMARKS: Final = (Category.SECRET, Category.PERSONAL, Category.INSTRUCTION)
_OPPOSITE: Final = "says the opposite of"


@dataclass(frozen=True, slots=True)
class _Row:
    """A record on its way; `texts` is None for a repetition, which was looked at before."""

    record: ForeignRecord
    source: SourceReport
    number: int
    first: int | None
    texts: Texts | None

    @property
    def named(self) -> ForeignRecord:
        """The record with its source in the pointer, as evidence for rows of other sources."""
        return replace(self.record, pointer=f"{self.source.name}, {self.record.pointer}")

    def seen_from(self, pointer: str) -> str:
        """Such a pointer, without the source where it is this row's own."""
        return masked(pointer.removeprefix(f"{self.source.name}, "))


def look_all(texts: list[Texts | None]) -> list[Looked | None]:
    """`look` for a chunk; in this module so that another process finds it."""
    return [look(one) if one is not None else None for one in texts]


def audit_records(records: Iterable[ForeignRecord], now: datetime, *, name: str = "records") -> Report:
    """The report on records that were already read."""
    part = Part(name, "", "records", iter(records))
    return _Audit(name, now).run([part], workers=1)


def audit_store(reading: Reading, now: datetime, *, workers: int = 1) -> Report:
    """The report on a file. Raises `Unusable` where the file as a whole cannot be read."""
    return _Audit(reading.path.name, now).run(reading.parts(), workers=workers)


class _Audit:
    """What is remembered while the rows go by."""

    def __init__(self, name: str, now: datetime) -> None:
        self.report = Report(visible(name), now)
        self._now = now
        self._repetitions, self._values, self._comparison = Repetitions(), Values(), Comparison()
        self._counts: Counter[Category] = Counter()
        self._listed: Counter[str] = Counter()
        self._remarks = bytearray()  # a byte for each row: which of `_REMARKS` were made on it
        self._pointers: dict[int, str] = {}
        self._dated = self._comparable = self._number = self._distinct = self._left_out = 0

    def run(self, parts: Iterable[Part], *, workers: int) -> Report:
        for row, looked in in_order(look_all, self._rows(parts), lambda row: row.texts, workers, _weight):
            if looked is not None and looked.problem:
                self._broken(row.source, Unreadable(row.record.pointer, looked.problem))
            else:
                self._judge(row, looked)
        self._conclude()
        return self.report

    def _rows(self, parts: Iterable[Part]) -> Iterator[_Row]:
        for part in parts:
            source = SourceReport(masked(part.name), part.format, part.title)
            self.report.sources.append(source)
            for item in part.items:
                if isinstance(item, Unreadable):
                    self._broken(source, item)
                elif isinstance(item, Note):
                    source.notes[item.what] += 1
                else:
                    yield self._row(item, source)

    def _row(self, record: ForeignRecord, source: SourceReport) -> _Row:
        self._number += 1
        first = self._repetitions.first(record, self._number)
        texts = None
        if first is None:
            extra = {**record.extra, **record.provenance}
            texts = Texts(record.text, record.subject, record.predicate, record.value, extra)
        return _Row(record, source, self._number, first, texts)

    def _broken(self, source: SourceReport, item: Unreadable) -> None:
        source.unreadable += 1
        if len(self.report.broken) < MOST_BROKEN:
            self.report.broken.append((source.name, masked(item.pointer), masked(item.problem)))

    def _judge(self, row: _Row, looked: Looked | None) -> None:
        row.source.records += 1
        if looked is None:
            findings, shown = self._repeated(row), ""
        else:
            self._distinct += 1
            self._pointers.update({row.number: row.named.pointer} if row.number <= ALL_LISTED else {})
            findings, shown = [*looked.findings, *self._compared(row, looked)], looked.shown
            self._remember_remarks(row.number, looked)
        if row.record.dated:
            self._dated += 1
            self._count_month(row.record)
            if found := stale(row.record, self._now):
                findings.append(found)
        self._count(row, shown or self._shown(row), findings)

    def _shown(self, row: _Row) -> str:
        return masked(row.record.text)

    def _repeated(self, row: _Row) -> list[Finding]:
        assert row.first is not None
        where = self._pointers.get(row.first, f"row {row.first:,}")
        found = [Finding(Category.EXACT_DUPLICATE, "duplicate.exact", f"the same as {row.seen_from(where)}")]
        for category in self._remarks_on(row.first):
            found.append(Finding(category, f"{category.value}.repeated", "as the row that it repeats"))
        return found

    def _remember_remarks(self, number: int, looked: Looked) -> None:
        made = {finding.category for finding in looked.findings}
        self._remarks.extend(bytes(max(0, number + 1 - len(self._remarks))))
        self._remarks[number] = sum(1 << at for at, one in enumerate(_REMARKS) if one in made)

    def _remarks_on(self, number: int) -> list[Category]:
        made = self._remarks[number] if number < len(self._remarks) else 0
        return [one for at, one in enumerate(_REMARKS) if made >> at & 1]

    def _compared(self, row: _Row, looked: Looked) -> Iterator[Finding]:
        """What earlier rows say to it. A row that its own store retired contradicts nothing any more."""
        before = self._values.judged + self._comparison.compared
        if not row.record.retired and (row.record.valid_to is None or row.record.valid_to > self._now):
            rival = self._values.rival(row.named, looked.shown)
            if rival is not None:
                why = f"another value than {row.seen_from(rival.pointer)}: “{rival.shown}”"
                yield Finding(Category.CONTRADICTION, "contradiction.single_value", why)
        if not any(finding.category in JUNK for finding in looked.findings):
            alike = self._comparison.earlier(row.named, looked.shown, row.number)
            if alike is not None:
                yield _likeness(alike, row.seen_from(alike.pointer))
        self._comparable += self._values.judged + self._comparison.compared > before

    def _count_month(self, record: ForeignRecord) -> None:
        if learned := record.last_confirmed:
            self.report.months[f"{learned:%Y-%m}"] += 1

    def _count(self, row: _Row, shown: str, findings: list[Finding]) -> None:
        categories = {finding.category for finding in findings}
        verdict = next((one for one in VERDICTS if one in categories), KEEP)
        self.report.verdicts[verdict] += 1
        self._counts.update(categories)
        self.report.rules.update({(finding.category, finding.rule) for finding in findings})
        if not self._lists(verdict, categories):
            self._left_out += 1
            return
        self.report.items.append(
            Item(row.source.name, masked(row.record.pointer), verdict, shown, tuple(findings))
        )

    def _lists(self, verdict: str, categories: set[Category]) -> bool:
        """All rows of a small store; of a large one the first of each kind that something was found on."""
        wanted = {verdict, *categories} - {KEEP}
        room = self._number <= ALL_LISTED or any(self._listed[one] < MOST_ITEMS for one in wanted)
        self._listed.update(wanted if room else ())
        return room

    def _conclude(self) -> None:
        report, comparison = self.report, self._comparison
        for category in Category:
            report.tallies[category] = Tally(self._counts[category], report.records)
        report.tallies[Category.STALE] = Tally(
            self._counts[Category.STALE], self._dated, "" if self._dated else "no row carries a date"
        )
        report.tallies[Category.CONTRADICTION] = Tally(
            self._counts[Category.CONTRADICTION],
            self._comparable,
            "" if self._comparable else "no row could be compared",
        )
        for category in (Category.NEAR_DUPLICATE, Category.SIMILAR):
            report.tallies[category] = replace(
                report.tallies[category],
                of=comparison.compared,
                why_not="" if comparison.compared else "no two rows could be compared",
            )
        if not report.records:
            report.tallies = {one: Tally(0, 0, "there are no rows") for one in Category}
        report.limits = list(self._limits())

    def _limits(self) -> Iterator[str]:
        if self._comparison.full:
            yield (
                f"Near duplicates and negations were looked for among the first "
                f"{self._comparison.compared:,} distinct rows of {self._distinct:,}; their rates are of these."
            )
        if self._values.full:
            yield f"Contradictions were looked for among the first {MOST_KEYS:,} keys with one value."
        if self._left_out:
            yield (
                f"{len(self.report.items):,} rows are listed; {self._left_out:,} more are only counted "
                "(worth keeping, or more of a kind that is listed)."
            )
        if self.report.unreadable > len(self.report.broken):
            yield f"The first {MOST_BROKEN} unreadable lines are named, {self.report.unreadable:,} were skipped."


def _weight(row: _Row) -> int:
    return len(row.record.text)


def _likeness(alike: Alike, pointer: str) -> Finding:
    where = f"{pointer}: “{alike.shown}”"
    if alike.kind == "opposite":
        return Finding(Category.CONTRADICTION, "contradiction.negated", f"{_OPPOSITE} {where}")
    if alike.kind == "same":
        return Finding(Category.NEAR_DUPLICATE, f"duplicate.{alike.reasons[0]}", f"says the same as {where}")
    return Finding(Category.SIMILAR, "duplicate.review", f"may say the same as {where}")

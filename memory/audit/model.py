"""The report of an audit as data: what was read, what was found, and what could not be judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class Category(StrEnum):
    """What can be wrong with a row. The order is the order of the report."""

    OWN_OUTPUT = "own_output"
    TOO_VAGUE = "too_vague"
    TRANSIENT = "transient"
    TOO_LONG = "too_long"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    STALE = "stale"
    CONTRADICTION = "contradiction"
    SECRET = "secret"
    PERSONAL = "personal"
    INSTRUCTION = "instruction"
    SIMILAR = "similar"


JUNK: Final = (Category.OWN_OUTPUT, Category.TOO_VAGUE, Category.TRANSIENT, Category.TOO_LONG)
"""Rows that no store should have taken."""

VERDICTS: Final = (
    Category.OWN_OUTPUT, Category.EXACT_DUPLICATE, Category.TOO_VAGUE, Category.TRANSIENT, Category.TOO_LONG,
    Category.NEAR_DUPLICATE, Category.STALE, Category.CONTRADICTION,
)  # fmt: skip
"""What decides a row, the first that applies. The rest is a remark on a row that can be kept."""

KEEP: Final = "keep"


@dataclass(frozen=True, slots=True)
class Finding:
    """`rule` is the stable name of the rule, `why` a sentence with the evidence; no secret is in either."""

    category: Category
    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Item:
    """One row in the report. `text` is masked and safe to show."""

    source: str
    pointer: str
    verdict: str
    text: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of how many rows that could be judged. `of` is 0 where none could: then `why_not` says why."""

    count: int
    of: int
    why_not: str = ""

    @property
    def rate(self) -> float | None:
        return self.count / self.of if self.of else None


@dataclass(slots=True)
class SourceReport:
    """One text that was read: the file, or a member of a zip."""

    name: str
    format: str
    title: str
    records: int = 0
    unreadable: int = 0
    notes: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Report:
    """The whole audit. Counts are exact unless `limits` says otherwise; items are a bounded selection."""

    name: str
    made_at: datetime
    sources: list[SourceReport] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    tallies: dict[Category, Tally] = field(default_factory=dict)
    rules: Counter[tuple[Category, str]] = field(default_factory=Counter)
    items: list[Item] = field(default_factory=list)
    broken: list[tuple[str, str, str]] = field(default_factory=list)
    months: Counter[str] = field(default_factory=Counter)
    limits: list[str] = field(default_factory=list)

    @property
    def records(self) -> int:
        return sum(source.records for source in self.sources)

    @property
    def unreadable(self) -> int:
        return sum(source.unreadable for source in self.sources)

    @property
    def junk(self) -> int:
        """Rows whose verdict is that they should never have been stored."""
        return sum(self.verdicts[category] for category in JUNK)

    @property
    def kept(self) -> int:
        return self.verdicts[KEEP]

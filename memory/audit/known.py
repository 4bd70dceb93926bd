"""Rows compared with those before them: exact repetitions, and other values for what has one value at a time.

Keeps eight bytes of hash and a number for every row, never its text (`memory.importers.numbers`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memory.domain.claims import claim_of
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.values import canonical_text, value_key
from memory.importers.numbers import Numbers, hashed
from memory.importers.records import ForeignRecord

MOST_KEYS: Final = 200_000
"""Keys with one value at a time that are remembered."""


class Repetitions:
    """Which row said the same before: same owner, same text but for case, spacing and closing marks."""

    def __init__(self) -> None:
        self._first = Numbers()

    def first(self, record: ForeignRecord, number: int) -> int | None:
        """The number of the row that said it first, None for a new text, which is remembered."""
        key = hashed(record.owner, canonical_text(record.text), record.predicate or "", record.value or "")
        known = self._first.setdefault(key, number)
        return None if known == number else known


@dataclass(frozen=True, slots=True)
class Stated:
    """Who stated a value, to be named as evidence."""

    value: str
    pointer: str
    shown: str


class Values:
    """The values of keys that have one at a time, from triples and from plain claims."""

    def __init__(self) -> None:
        self._known: dict[int, Stated] = {}
        self.judged = 0
        self.full = False

    def rival(self, record: ForeignRecord, shown: str) -> Stated | None:
        """The earlier row that gives another value, if there is one; else this row is remembered."""
        stated = _stated(record)
        if stated is None:
            return None
        key, value = stated
        self.judged += 1
        known = self._known.get(key)
        if known is not None:
            return known if known.value != value else None
        if len(self._known) >= MOST_KEYS:
            self.full = True
        else:
            self._known[key] = Stated(value, record.pointer, shown)
        return None


def _stated(record: ForeignRecord) -> tuple[int, str] | None:
    """(key, value) where the row says something that has one value at a time."""
    if record.subject and record.predicate and record.value:
        rule = DEFAULT_REGISTRY.lookup(record.predicate)
        if not rule.single_valued:
            return None
        key = hashed("triple", record.owner, canonical_text(record.subject), rule.name)
        return key, value_key(record.value, rule.normaliser)
    claim = claim_of(record.text)
    if claim is None and record.subject:
        claim = claim_of(record.text.replace(": ", " ", 1))
    return None if claim is None else (hashed("claim", record.owner, *claim.key), claim.value)

"""Near duplicates and negations among the first distinct rows, found through the keys and terms that they share.

Bounded on purpose: comparing everything with everything would take days for a million rows. How many rows
were compared is part of the report.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from memory.domain.similarity import block_keys, judge
from memory.domain.text import query_terms
from memory.importers.numbers import Numbers, hashed
from memory.importers.records import ForeignRecord

MOST_COMPARED: Final = 20_000
"""Distinct rows that are compared."""
_MOST_TERMS: Final = 600_000
"""Terms that are remembered of all compared rows together: long rows fill them before there are so many rows."""
_LONGEST: Final = 2_000
_NEWEST: Final = 48
"""Rows that are remembered for one term; a term that more rows share tells little."""
_LOOKED_AT: Final = 48
"""Rows with the most terms in common whose likeness is told by them."""
_JUDGED: Final = 4
"""Rows that are judged for their keys, and as many for their terms."""
_LEAST_SHARED: Final = 0.5
_OPPOSITE: Final = frozenset({"negation", "antonym"})
_OPPOSITE_FROM: Final = 0.75


@dataclass(frozen=True, slots=True)
class Alike:
    """`kind` is same, review or opposite; `number` that of the earlier row."""

    kind: str
    number: int
    pointer: str
    shown: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    pointer: str
    text: str
    shown: str
    terms: frozenset[str]


class Comparison:
    """The rows compared so far."""

    def __init__(self, most: int = MOST_COMPARED) -> None:
        self._most = most
        self._kept: list[_Kept] = []
        self._by_term: dict[tuple[str, str], list[int]] = {}
        self._by_key = Numbers()
        self._terms = 0
        self.full = False

    @property
    def compared(self) -> int:
        return len(self._kept)

    def earlier(self, record: ForeignRecord, shown: str, number: int) -> Alike | None:
        """The earlier row that is most alike, if one is alike enough; the row itself is remembered."""
        if len(self._kept) >= self._most or self._terms >= _MOST_TERMS:
            self.full = True
            return None
        if len(record.text) > _LONGEST:
            return None  # no single fact
        row = _Kept(number, record.pointer, record.text, shown, frozenset(query_terms(record.text)))
        found = self._best(row, record.owner)
        self._remember(row, record.owner)
        return found

    def _remember(self, row: _Kept, owner: str) -> None:
        for term in row.terms:
            sharing = self._by_term.setdefault((owner, term), [])  # a list: most terms stand in few rows
            sharing.append(len(self._kept))
            del sharing[:-_NEWEST]
        self._terms += len(row.terms)
        self._kept.append(row)

    def _best(self, row: _Kept, owner: str) -> Alike | None:
        best: Alike | None = None
        for at in self._candidates(row, owner):
            other = self._kept[at]
            judgement = judge(row.text, other.text, None)
            kind: str = judgement.verdict if judgement.verdict != "different" else ""
            opposed = bool(judgement.reasons) and _OPPOSITE.issuperset(judgement.reasons)
            if not kind and opposed and judgement.jaccard >= _OPPOSITE_FROM:
                kind = "opposite"
            if kind == "same":
                return Alike(kind, other.number, other.pointer, other.shown, judgement.reasons)
            if kind and best is None:
                best = Alike(kind, other.number, other.pointer, other.shown, judgement.reasons)
        return best

    def _candidates(self, row: _Kept, owner: str) -> list[int]:
        """Earlier rows that may say the same: by the keys under which a write would find them, which other spellings of
        figures and short forms share, and by the terms that they share, the most alike first."""
        return list(dict.fromkeys([*self._keyed(row, owner), *self._sharing(row, owner)]))

    def _keyed(self, row: _Kept, owner: str) -> list[int]:
        """The first row of each of its keys; where it is the first itself, later ones find it."""
        mine, found = len(self._kept), Counter[int]()
        for key in block_keys(row.text):
            at = self._by_key.setdefault(hashed(owner, key), mine + 1) - 1
            if at != mine:
                found[at] += 1
        return [at for at, _ in found.most_common(_JUDGED)]

    def _sharing(self, row: _Kept, owner: str) -> list[int]:
        shared: Counter[int] = Counter()
        for term in row.terms:
            shared.update(self._by_term.get((owner, term), ()))
        near = []
        for at, count in shared.most_common(_LOOKED_AT):
            others = len(self._kept[at].terms)
            if count >= _LEAST_SHARED * min(len(row.terms), others):
                near.append((count / (len(row.terms) + others - count), at))
        return [at for _, at in sorted(near, reverse=True)[:_JUDGED]]

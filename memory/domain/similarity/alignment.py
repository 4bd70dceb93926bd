"""Which content words of two texts stand for each other, and what is left over on either side.

Words stand for each other when they are equal, when one is the other written together ("standup" and
"stand up"), or when one is the initials of the others ("SLA").
"""

from collections import Counter
from dataclasses import dataclass, replace

from memory.domain.similarity.analysis import Analysis, Unit

Keyed = dict[tuple[str, int], int]  # stem and which occurrence of it -> position
_MIN_COMPOUND = 6
_MIN_INITIALS = 3
MAX_LEFT = 8  # with more left over, no spelling makes the texts equal


@dataclass(frozen=True, slots=True)
class Alignment:
    """The units of both texts; `shared` holds pairs of positions, in the order of the first text."""

    a: tuple[Unit, ...]
    b: tuple[Unit, ...]
    shared: tuple[tuple[int, int], ...]
    left_a: tuple[Unit, ...]
    left_b: tuple[Unit, ...]

    @property
    def pairs(self) -> list[tuple[Unit, Unit]]:
        return [(self.a[i], self.b[j]) for i, j in self.shared]


def align(a: Analysis, b: Analysis) -> Alignment:
    """Align two texts, writing compounds and initials of the one as the other has them."""
    first = _paired(a.units, b.units)
    if not (first.left_a and first.left_b) or len(first.left_a) + len(first.left_b) > MAX_LEFT:
        return first
    units_a = _written_together(a.units, first.left_b)
    units_b = _written_together(b.units, first.left_a)
    if len(units_a) == len(a.units) and len(units_b) == len(b.units):
        return first
    return _paired(units_a, units_b)


def _paired(a: tuple[Unit, ...], b: tuple[Unit, ...]) -> Alignment:
    keys_a, keys_b = _keyed(a), _keyed(b)
    shared = tuple((at, keys_b[key]) for key, at in keys_a.items() if key in keys_b)
    left_a = tuple(a[at] for key, at in keys_a.items() if key not in keys_b)
    left_b = tuple(b[at] for key, at in keys_b.items() if key not in keys_a)
    return Alignment(a, b, shared, left_a, left_b)


def _keyed(units: tuple[Unit, ...]) -> Keyed:
    seen: Counter[str] = Counter()
    keys: Keyed = {}
    for at, unit in enumerate(units):
        keys[(unit.stem, seen[unit.stem])] = at
        seen[unit.stem] += 1
    return keys


def _written_together(units: tuple[Unit, ...], wanted: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Replace neighbouring units by the one word of `wanted` that they spell or abbreviate to."""
    for target in wanted:
        word = target.word
        if not word.isalpha():
            continue
        for at in range(len(units) - 1):
            length = _spelled_by(units, at, word)
            if length:
                merged = replace(units[at], stem=target.stem, word=word, time=target.time)
                units = (*units[:at], merged, *units[at + length :])
                break
    return units


def _spelled_by(units: tuple[Unit, ...], at: int, word: str) -> int:
    """Return how many units from `at` on spell the word, together or by their initials; 0 if they do not."""
    if len(word) >= _MIN_COMPOUND and units[at].word + units[at + 1].word == word:
        return 2
    run = units[at : at + len(word)]
    if _MIN_INITIALS <= len(word) == len(run) and all(
        u.word[0] == c and len(u.word) > 1 for u, c in zip(run, word, strict=True)
    ):
        return len(word)
    return 0

"""Which content words of two texts stand for each other, and what is left over on either side.

Words stand for each other when they are equal, when one is the other written together ("standup" and
"stand up"), or when one is the initials of the others ("SLA").
"""

from collections import Counter
from dataclasses import dataclass, replace

from memory.domain.similarity.analysis import Analysis, Unit
from memory.domain.similarity.clipping import is_short_for

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
    units_a = _written_together(a.units, first.left_a, first.left_b, b.marked)
    units_b = _written_together(b.units, first.left_b, first.left_a, a.marked)
    if len(units_a) != len(a.units) or len(units_b) != len(b.units):
        first = _paired(units_a, units_b)
    if first.left_a and first.left_b and len(first.left_a) + len(first.left_b) <= MAX_LEFT:
        return _written_out(first)
    return first


def _written_out(found: Alignment) -> Alignment:
    """Write words that are cut short in one text as the other has them, where both have the same neighbour."""
    units_a, units_b = list(found.a), list(found.b)
    for x in found.left_a:
        for y in found.left_b:
            i, j = units_a.index(x) if x in units_a else -1, units_b.index(y) if y in units_b else -1
            if x.hard or y.hard or i < 0 or j < 0 or not _same_neighbour(units_a, i, units_b, j):
                continue
            if is_short_for(x.word, y.word):
                units_a[i] = replace(x, stem=y.stem, word=y.word, time=y.time)
            elif is_short_for(y.word, x.word):
                units_b[j] = replace(y, stem=x.stem, word=x.word, time=x.time)
    return _paired(tuple(units_a), tuple(units_b))


def _same_neighbour(a: list[Unit], i: int, b: list[Unit], j: int) -> bool:
    before_a, before_b = (a[i - 1].stem if i else ""), (b[j - 1].stem if j else "")
    after_a, after_b = (u[k + 1].stem if k + 1 < len(u) else "" for u, k in ((a, i), (b, j)))
    return before_a == before_b or after_a == after_b


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


def _written_together(
    units: tuple[Unit, ...], left: tuple[Unit, ...], wanted: tuple[Unit, ...], marked: frozenset[str]
) -> tuple[Unit, ...]:
    """Replace neighbouring units by the one word of `wanted` that they spell or abbreviate to.

    Two initials are enough for a word in capitals whose two words have no other part in the other text.
    """
    for target in wanted:
        word = target.word
        if not word.isalpha():
            continue
        for at in range(len(units) - 1):
            length = _spelled_by(units, at, word, 2 if target.stem in marked else _MIN_INITIALS)
            if length > 2 or (length and units[at] in left and units[at + 1] in left):
                merged = replace(units[at], stem=target.stem, word=word, time=target.time)
                units = (*units[:at], merged, *units[at + length :])
                break
    return units


def _spelled_by(units: tuple[Unit, ...], at: int, word: str, least: int) -> int:
    """Return how many units from `at` on spell the word, together or by their initials; 0 if they do not."""
    if len(word) >= _MIN_COMPOUND and units[at].word + units[at + 1].word == word:
        return 2
    run = units[at : at + len(word)]
    if least <= len(word) == len(run) and all(
        u.word[0] == c and len(u.word) > 1 for u, c in zip(run, word, strict=True)
    ):
        return len(word)
    return 0

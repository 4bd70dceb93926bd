"""Counts of what a policy would do, with a few samples: those first that look most like a mistake.

Bounded, whatever is counted, and the same for the same rows in any order.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

MOST_SAMPLES: Final = 10
_MOST_LABELS: Final = 200
OTHERS: Final = "others"


@dataclass(frozen=True, slots=True)
class Standing:
    """What speaks for an entry: somebody pinned it, brought it back, used it, learned it again."""

    pinned: bool = False
    restored: bool = False
    uses: int = 0
    reproductions: int = 0
    strength: float = 0.0
    """confidence × trust"""

    def rank(self) -> tuple[bool, bool, int, int, float]:
        """Greater for what would rather be missed."""
        return (self.pinned, self.restored, self.uses, self.reproductions, self.strength)

    def marks(self) -> dict[str, Any]:
        """What of it is worth telling."""
        found = {
            "pinned": self.pinned,
            "restored": self.restored,
            "uses": self.uses,
            "again": self.reproductions,
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Sample:
    """One case by its id; its text is looked up when it is shown, so that none is kept here."""

    kind: str
    """`memory`, `decision` or `manifest`."""
    id: UUID
    why: str
    standing: Standing = field(default_factory=Standing)

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "id": self.id.hex, "why": self.why, **self.standing.marks()}


class Tally:
    """How many cases there are, by label, and the samples of the highest rank."""

    def __init__(self, most: int = MOST_SAMPLES) -> None:
        self.count = 0
        self.labels: Counter[str] = Counter()
        self._most = most
        self._kept: list[tuple[tuple[Any, ...], int, Sample]] = []

    def add(self, label: str, sample: Sample) -> None:
        """Count a case under a label; its sample is kept while it is among the highest."""
        self.count += 1
        known = label in self.labels or len(self.labels) < _MOST_LABELS
        self.labels[label if known else OTHERS] += 1
        entry = (sample.standing.rank(), sample.id.int, sample)
        if len(self._kept) < self._most:
            heapq.heappush(self._kept, entry)
        elif entry[:2] > self._kept[0][:2]:
            heapq.heapreplace(self._kept, entry)

    def samples(self) -> list[Sample]:
        """The samples, the highest rank first."""
        return [entry[2] for entry in sorted(self._kept, key=lambda one: one[:2], reverse=True)]

    def as_json(self) -> dict[str, Any]:
        labels = sorted(self.labels.items(), key=lambda one: (-one[1], one[0]))
        return {
            "count": self.count,
            "labels": dict(labels),
            "samples": [one.as_json() for one in self.samples()],
        }


def as_json(tallies: Mapping[str, Tally], order: Sequence[str]) -> list[dict[str, Any]]:
    """The tallies that counted something, in this order."""
    return [{"name": name, **tallies[name].as_json()} for name in order if tallies[name].count]

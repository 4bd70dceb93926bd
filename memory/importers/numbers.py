"""Hashes with a number each, for millions of rows: what a dictionary would do in a fifth of its memory.

`hashed` makes eight bytes of a text; `Numbers` keeps them in two flat arrays, 16 to 32 bytes a row.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Final

_FEWEST: Final = 1 << 12
"""Places at the start; always a power of two."""


def hashed(*parts: str) -> int:
    """Eight bytes of hash. Among a million rows two different ones share it once in thirty million audits."""
    whole = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(whole, digest_size=8).digest(), "big")


class Numbers:
    """The number that each hash came with first. Open addressing: a hash stands at its own place or behind it."""

    def __init__(self) -> None:
        self._make_room(_FEWEST)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def __contains__(self, key: int) -> bool:
        return bool(self._numbers[self._place(key)])

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self._hashes) * self._hashes.itemsize + len(self._numbers) * self._numbers.itemsize

    def setdefault(self, key: int, number: int) -> int:
        """The number of a hash that is known, else the one given (from 1 to 2³² - 1), which is remembered."""
        at = self._place(key)
        if known := self._numbers[at]:
            return known
        self._hashes[at], self._numbers[at] = key, number
        self._used += 1
        if 4 * self._used > 3 * len(self._numbers):
            self._grow()
        return number

    def _place(self, key: int) -> int:
        """Where the hash stands, or the free place where it belongs."""
        hashes, numbers, mask = self._hashes, self._numbers, self._mask
        at = key & mask
        while numbers[at] and hashes[at] != key:
            at = (at + 1) & mask
        return at

    def _make_room(self, places: int) -> None:
        self._hashes, self._numbers = array("Q", bytes(8 * places)), array("I", bytes(4 * places))
        self._mask = places - 1

    def _grow(self) -> None:
        hashes, numbers = self._hashes, self._numbers
        self._make_room(2 * len(numbers))
        for key, number in zip(hashes, numbers, strict=True):
            if number:
                at = self._place(key)
                self._hashes[at], self._numbers[at] = key, number

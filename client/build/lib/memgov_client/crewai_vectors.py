"""Vectors for CrewAI that stand for texts, so that a storage that is asked with a vector knows what was asked."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final


class TextVectors:
    """An embedder whose vectors stand for texts: equal ones for equal texts, and the text can be had back."""

    SIZE: Final = 32

    def __init__(self, kept: int = 10_000) -> None:
        self._kept = kept
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of each text."""
        return [self._vector(text) for text in texts]

    def text_of(self, vector: Sequence[float]) -> str:
        """The text that a vector stands for.  Raises ValueError for one that was not made here."""
        with self._lock:
            found = self._texts.get(tuple(vector))
        if found is None:
            raise ValueError(
                "memgov cannot search by another embedder's vectors; give Memory the `embedder` of this storage,"
                " or make it with memgov_client.crewai.memory(…)"
            )
        return found

    def _vector(self, text: str) -> list[float]:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        vector = [(byte - 127.5) / 127.5 for byte in digest]
        with self._lock:
            self._texts[tuple(vector)] = text
            self._texts.move_to_end(tuple(vector))
            while len(self._texts) > self._kept:
                self._texts.popitem(last=False)
        return vector

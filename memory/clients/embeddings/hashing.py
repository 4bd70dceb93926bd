"""A bag of words hashed into 384 dimensions: the same on every machine, for tests and benchmarks.

It knows no meaning: texts are near when they share words.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from memory.clients.embeddings.contract import Vectors, unit_rows
from memory.domain.text import terms


class HashedWords:
    """Each term adds or subtracts the root of its count at a place given by its hash."""

    model_id = "hashed-words-384@1"
    dim = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            # A text without a single term still needs a direction of its own.
            for term, count in Counter(terms(text) or [f"\0{text}"]).items():
                place, sign = _place(term, self.dim)
                rows[row, place] += sign * count**0.5
            if not rows[row].any():  # two terms that cancelled each other out
                rows[row, _place(f"\0{text}", self.dim)[0]] = 1.0
        return unit_rows(rows)


class DenseHashedWords:
    """The same, turned by a fixed rotation: texts are as near, and every number of a vector is in use.

    For benchmarks: to read, write and compare vectors costs as much as with those of a model, of which none is zero.
    """

    model_id = "hashed-words-384-dense@1"
    dim = HashedWords.dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        turned, rotation = np.empty((len(texts), self.dim), np.float32), _rotation(self.dim)
        for at, row in enumerate(HashedWords().embed(texts)):
            places = np.flatnonzero(row)  # a few of many
            turned[at] = row[places] @ rotation[places]
        return unit_rows(turned)


@lru_cache(maxsize=1)
def _rotation(dim: int) -> Vectors:
    drawn = np.random.default_rng(384).standard_normal((dim, dim))
    return np.linalg.qr(drawn)[0].astype(np.float32)


@lru_cache(maxsize=65_536)
def _place(term: str, dim: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (number >> 1) % dim, 1.0 if number & 1 else -1.0

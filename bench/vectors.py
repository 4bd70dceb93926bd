"""The vectors of every system in a run: the product's embedder `hash:dense`, so that a model's time is in no figure.

A peer's environment holds none of the product's other needs, so the embedder's module is found without running its
package's `__init__`.  It needs NumPy and PyStemmer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

DIMENSIONS = 384
_PACKAGES = ("memory", "memory.clients", "memory.clients.embeddings")


@lru_cache(maxsize=1)
def _embedder() -> Any:
    root = Path(__file__).resolve().parent.parent
    for name in _PACKAGES:
        if name not in sys.modules:
            bare = ModuleType(name)
            bare.__path__ = [str(root.joinpath(*name.split(".")))]
            sys.modules[name] = bare
    from memory.clients.embeddings.hashing import DenseHashedWords

    return DenseHashedWords()


def vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One unit row per text."""
    rows: npt.NDArray[np.float32] = _embedder().embed(texts)
    return rows


def vector(text: str) -> npt.NDArray[np.float32]:
    """The unit vector of one text."""
    row: npt.NDArray[np.float32] = vectors([text])[0]
    return row

"""What every embedder promises, and how it says that it cannot keep the promise.

Only the interface and its errors live here; the providers are in the other modules of this package.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Vector = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors; `model_id` is stored beside each vector and changes with the model."""

    @property
    def model_id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), dim), in the order of the texts.

        Raises an `EmbedderError` when that is impossible; never returns fewer rows or other dimensions.
        """
        ...


class EmbedderError(Exception):
    """No vector can be had. The message is fit to be shown to an operator."""


class NoEmbedder(EmbedderError):
    """The installation runs without an embedder on purpose: search is by text only."""


class EmbedderUnavailable(EmbedderError):
    """The embedder is configured and does not answer, or not properly. Trying later can help."""


class TextRefused(EmbedderUnavailable):
    """The embedder answered that it will not take this request. The text itself may be the reason."""


class EmbedderSpecInvalid(ValueError):
    """The value of MEMGOV_EMBEDDER names no embedder."""


def unit_rows(rows: npt.NDArray[np.floating]) -> Vectors:
    """Return the rows scaled to length 1 as float32; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def embed_each(embedder: Embedder, texts: Sequence[str]) -> list[Vector | EmbedderError]:
    """Embed a batch so that one refused text costs no other: a vector or an error for every text.

    Halves the batch on a refusal. An embedder that is down is asked once, not once per text.
    """
    if not texts:
        return []
    try:
        return list(embedder.embed(texts))
    except TextRefused as refusal:
        if len(texts) == 1:
            return [refusal]
    except EmbedderError as error:
        return [error] * len(texts)
    half = len(texts) // 2
    return embed_each(embedder, texts[:half]) + embed_each(embedder, texts[half:])

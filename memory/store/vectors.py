"""Embeddings as the database takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.vectors import vector_text


@dataclass(frozen=True, slots=True)
class Vector:
    """An embedding with the model that made it."""

    values: Sequence[float]
    model_id: str


def halfvec(vector: Vector | None) -> str | None:
    """The text of a `halfvec`."""
    return vector_text(vector.values) if vector else None

"""How a vector is written for the database."""

from __future__ import annotations

from collections.abc import Iterable


def vector_text(values: Iterable[float]) -> str:
    """pgvector's text form.  Five digits are more than a half-precision number holds."""
    return f"[{','.join([f'{value:.5g}' for value in values])}]"

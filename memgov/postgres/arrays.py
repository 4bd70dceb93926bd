"""Arrays as PostgreSQL reads them from text."""

from __future__ import annotations

from collections.abc import Sequence


def array_text(words: Sequence[str]) -> str:
    """Words as the text of an array: to bind a list, a driver first looks what it holds."""
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in words)
    return "{" + ",".join([f'"{word}"' for word in escaped]) + "}"

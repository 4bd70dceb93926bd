"""The zero character (NUL), which no text that is kept can hold: taken out of what a writer sends, and said so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from memory.domain.types import Finding

ZERO: Final = "\x00"
KIND: Final = "removed"
RULE: Final = "zero_character"

_DEEPEST: Final = 64  # what nests deeper is refused anyway
_LONGEST_PLACE: Final = 200


def without_zero(fields: Mapping[str, object]) -> tuple[dict[str, object], tuple[Finding, ...]]:
    """Those fields that hold zero characters, without them, and one finding for each text that had some.

    Texts may stand in lists and in nested mappings, as keys too.  The span of a finding is empty: nothing is left where
    the first one stood, counted in characters of the text without them.
    """
    changed: dict[str, object] = {}
    found: list[Finding] = []
    for name, value in fields.items():
        here = [Finding(KIND, place, (at, at), RULE) for place, at in _zeros(value, name)]
        if here:
            changed[name] = _cleared(value)
            found += here
    return changed, tuple(found)


def _zeros(value: object, place: str, depth: int = 0) -> Iterator[tuple[str, int]]:
    """The place of each text with zero characters, named as sanitisation names it, and where the first one stands."""
    if isinstance(value, str):
        if ZERO in value:
            yield place.replace(ZERO, "")[:_LONGEST_PLACE], value.index(ZERO)
    elif depth >= _DEEPEST:
        return
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _zeros(key, place, depth + 1)
            yield from _zeros(inner, f"{place}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from _zeros(inner, f"{place}[{at}]", depth + 1)


def _cleared(value: object, depth: int = 0) -> object:
    if isinstance(value, str):
        return value.replace(ZERO, "")
    if depth >= _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {_cleared(key, depth + 1): _cleared(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleared(inner, depth + 1) for inner in value]
    return value

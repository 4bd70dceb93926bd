"""Putting `[REDACTED:<rule>]` where a secret or personal data stood, in fields and in nested metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from memory.domain.sanitisation.model import Match

_MARK: Final = re.compile(r"(\[REDACTED:[a-z_0-9]+\])")


def redact(text: str, matches: Iterable[Match]) -> str:
    """`text` with each span replaced. The spans must not overlap and must be in order."""
    parts: list[str] = []
    last = 0
    for match in matches:
        start, end = match.span
        parts.extend((text[last:start], f"[REDACTED:{match.rule}]"))
        last = end
    parts.append(text[last:])
    return "".join(parts)


def replaced_outside_marks(text: str, secret: str, mark: str) -> str:
    """`text` with `secret` exchanged everywhere but in the marks of redaction, which may spell it: "url_password"."""
    parts = _MARK.split(text)
    parts[::2] = [part.replace(secret, mark) for part in parts[::2]]
    return "".join(parts)


def strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text in nested metadata with the path of its place, keys included."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield path, str(key)
            yield from strings(inner, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from strings(inner, f"{path}[{index}]")


def replaced(value: object, texts: Mapping[str, str]) -> object:
    """Nested metadata with every text exchanged that `texts` knows."""
    if isinstance(value, str):
        return texts.get(value, value)
    if isinstance(value, Mapping):
        return {texts.get(str(key), str(key)): replaced(inner, texts) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [replaced(inner, texts) for inner in value]
    return value

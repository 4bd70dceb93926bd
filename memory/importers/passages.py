"""A longer text as single statements: lines and bullets, wrapped lines joined, headings kept as a path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BULLET = re.compile(r"^(?P<indent>\s*)(?:[-*•+]|\d{1,3}[.)])\s+(?P<text>.*)$")
_HEADING = re.compile(r"^(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?P<plain>[^.!?]{1,80}):)$")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")
_WRAPPED_FROM: Final = 50
"""Characters. A shorter line was ended by its writer, not by the width of a page."""


@dataclass(frozen=True, slots=True)
class Passage:
    """`line` counts from 1 within the text; `heading` is what stands above it."""

    line: int
    text: str
    heading: str = ""


def passages(text: str) -> Iterator[Passage]:
    """The statements of a text. A text that is JSON is one passage: its lines mean nothing alone."""
    if _is_json(text):
        yield Passage(1, text.strip())
        return
    lines = _joined(text)
    heading = ""
    for at, (number, line, bullet) in enumerate(lines):
        title = _HEADING.match(line)
        heads = title and (title["marked"] or _leads(lines, at, bullet))
        if title and heads:
            heading = title["marked"] or title["plain"]
        else:
            yield Passage(number, line, heading)


def _leads(lines: list[tuple[int, str, bool]], at: int, bullet: bool) -> bool:
    """Whether a line that ends in a colon is followed by what it announces."""
    return not bullet and at + 1 < len(lines) and lines[at + 1][2]


def _joined(text: str) -> list[tuple[int, str, bool]]:
    """(line, text, whether it is a bullet), wrapped lines put together again."""
    found: list[tuple[int, str, bool]] = []
    open_line = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        bullet = _BULLET.match(raw)
        if not line:
            open_line = False
            continue
        if open_line and not bullet and line[:1].islower():
            start, before, was_bullet = found.pop()
            found.append((start, f"{before} {line}", was_bullet))
        else:
            found.append((number, bullet["text"].strip() if bullet else line, bool(bullet)))
        open_line = len(line) >= _WRAPPED_FROM and not _ENDS_SENTENCE.search(line)
    return [one for one in found if one[1]]


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if stripped[:1] + stripped[-1:] not in ("{}", "[]"):
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True

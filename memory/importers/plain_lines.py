"""One memory a line, with or without a bullet in front of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.importers import text_lines
from memory.importers.records import ForeignRecord, Item, Unreadable
from memory.importers.source import Source

_BULLET = re.compile(r"^\s*[-*•]\s+")


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every line that is not blank."""
    with source.open() as stream:
        for line in text_lines.lines(stream):
            if isinstance(line, Unreadable):
                yield line
            elif text := without_bullet(line.text):
                yield ForeignRecord(text, line.pointer)


def without_bullet(text: str) -> str:
    """The text behind `- `; a line that is nothing but a bullet is empty."""
    return _BULLET.sub("", text + " ", count=1).strip()

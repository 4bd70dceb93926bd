"""What an assistant writes when asked to export its memories: one a line, a date or `unknown` in front."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory.importers import text_lines
from memory.importers.plain_lines import without_bullet
from memory.importers.records import ForeignRecord, Item, Note, Unreadable
from memory.importers.source import Source
from memory.importers.times import read_time

DATED: Final = re.compile(
    r"^\s*(?:[-*•]\s+)?\[(?P<date>\d{4}-\d\d-\d\d|unknown)\]\s*(?:[-–—:]\s*)?(?P<text>.*)$", re.IGNORECASE
)
_AROUND = re.compile(r"^\s*(?:```\w*|#{1,6}\s.*|[^-*•\s\[].*:)\s*$")


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every line; headings and the fence of a code block around the export are left out."""
    with source.open() as stream:
        for line in text_lines.lines(stream):
            if isinstance(line, Unreadable):
                yield line
            elif _AROUND.match(line.text):
                yield Note("heading or fence", line.pointer)
            else:
                yield from _entry(line)


def _entry(line: text_lines.Line) -> Iterator[Item]:
    dated = DATED.match(line.text)
    text = without_bullet(dated["text"] if dated else line.text)
    if text:
        yield ForeignRecord(text, line.pointer, created_at=read_time(dated["date"]) if dated else None)
    else:
        yield Unreadable(line.pointer, "has a date and no text")

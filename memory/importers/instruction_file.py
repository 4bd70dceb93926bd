"""AGENTS.md, CLAUDE.md and other Markdown notes: a record for every bullet and paragraph, with its headings.

Lines such as `@docs/conventions.md` include another file. They are named and never followed: an audit reads
the one file that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from memory.importers import text_lines
from memory.importers.records import ForeignRecord, Item, Note, Unreadable
from memory.importers.source import Source

HEADING: Final = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_BULLET = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_INCLUDE = re.compile(r"^\s*(?:[-*+]\s+)?@[\w.~/-]+\s*$")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$|^\s*\|?[\s:|-]+\|[\s:|-]*$")
_MARK: Final = "---"


@dataclass(slots=True)
class _Reader:
    """What is open while the lines go by: headings, announcing bullets, the statement being put together."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    announced: list[tuple[int, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    start: int = 0
    indent: int = 0
    bullet: bool = False
    fence: str = ""
    comment: bool = False
    front_matter: bool = False

    def read(self, line: text_lines.Line) -> Iterator[Item]:
        text = line.text
        if self._inside_something_else(text, line.number):
            return
        if fence := _FENCE.match(text):
            self.fence = fence[1]
            yield Note("code block left out", line.pointer)
        elif text.lstrip().startswith("<!--"):
            self.comment = "-->" not in text
            yield Note("comment left out", line.pointer)
        elif heading := HEADING.match(text):
            yield from self.finish()
            self._head(len(heading[1]), heading[2])
        elif _INCLUDE.match(text):
            yield from self.finish()
            yield Note("include of another file, not followed", line.pointer)
        elif _RULE.match(text):
            yield from self.finish()
        elif bullet := _BULLET.match(text):
            yield from self.finish(deeper_than=len(bullet[1]))
            self.announced = [one for one in self.announced if one[0] < len(bullet[1])]
            self.parts, self.start = [bullet[2]], line.number
            self.bullet, self.indent = True, len(bullet[1])
        else:
            yield from self._continue(line)

    def _inside_something_else(self, text: str, number: int) -> bool:
        if number == 1 and text.strip() == _MARK:
            self.front_matter = True
            return True
        if self.front_matter:
            self.front_matter = text.strip() != _MARK
            return True
        if self.fence:
            self.fence = "" if text.strip().startswith(self.fence) else self.fence
            return True
        if self.comment:
            self.comment = "-->" not in text
            return True
        return False

    def _continue(self, line: text_lines.Line) -> Iterator[Item]:
        """A line that goes on with the statement before it, or begins a paragraph."""
        text = line.text.strip().lstrip("> ").strip("|").strip()
        table = line.text.strip().startswith("|")
        if self.parts and not table and line.number == self.start + len(self.parts):
            self.parts.append(text)
            return
        yield from self.finish()
        self.announced = []
        self.parts, self.start, self.bullet, self.indent = [text], line.number, False, 0

    def _head(self, level: int, text: str) -> None:
        self.headings = [one for one in self.headings if one[0] < level] + [(level, text)]
        self.announced = []

    def finish(self, deeper_than: int | None = None) -> Iterator[Item]:
        """Give out the statement that was open. One that announces the bullets below it is their heading."""
        text = " ".join(part for part in self.parts if part)
        if (
            text
            and text.endswith(":")
            and deeper_than is not None
            and (deeper_than > self.indent or not self.bullet)
        ):
            self.announced.append((self.indent if self.bullet else -1, text.rstrip(":")))
        elif text:
            path = " › ".join(title for _, title in (*self.headings, *self.announced))
            where = f" ({path})" if path else ""
            yield ForeignRecord(
                text, f"line {self.start}{where}", provenance={"heading": path} if path else {}
            )
        self.parts = []


def read(source: Source, layout: str) -> Iterator[Item]:
    """A record for every bullet, paragraph and row of a table."""
    reader = _Reader()
    with source.open() as stream:
        for line in text_lines.lines(stream):
            if isinstance(line, Unreadable):
                yield line
            else:
                yield from reader.read(line)
    yield from reader.finish()

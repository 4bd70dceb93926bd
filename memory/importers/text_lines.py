"""Lines of a source with their numbers, one at a time; a line that cannot be read says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from memory.importers.records import Unreadable
from memory.importers.source import DAMAGED

LONGEST_LINE: Final = 4 * 1024 * 1024
"""Bytes. A memory has at most 8,000 characters; rows with vectors beside the text can be long."""


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str

    @property
    def pointer(self) -> str:
        return f"line {self.number}"


def lines(stream: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[Line | Unreadable]:
    """Every line that is not blank, without its ending."""
    number = 0
    while True:
        number += 1
        try:
            raw = stream.readline(longest + 2)
            if len(raw) > longest:
                _skip_rest(stream, raw)
        except DAMAGED as error:
            yield Unreadable(f"line {number}", f"the file is damaged from here on ({error})")
            return
        if not raw:
            return
        line = _read(raw, number, longest)
        if line is not None:
            yield line


def _skip_rest(stream: BinaryIO, piece: bytes) -> None:
    """Read on to the end of a line that is too long, in pieces."""
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(1024 * 1024)


def _read(raw: bytes, number: int, longest: int) -> Line | Unreadable | None:
    if len(raw.rstrip(b"\r\n")) > longest:
        return Unreadable(f"line {number}", f"is longer than {longest // 1024:,} KiB")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Unreadable(f"line {number}", f"is not UTF-8 (byte {error.start + 1})")
    return Line(number, text.rstrip("\r\n")) if text.strip() else None

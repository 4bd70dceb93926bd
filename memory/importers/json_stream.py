"""A JSON document of any size, one element at a time: the elements of its outer array, or of the arrays in it.

    [ {…}, {…} ]                      → elements with key ""
    {"count": 2, "results": [ … ]}    → the value of `count`, then the elements of `results`

An element that does not parse is named and skipped where the next one can be found.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from memory.importers.records import Unreadable
from memory.importers.source import DAMAGED

LONGEST_ELEMENT: Final = 4 * 1024 * 1024
"""Characters. An element is decoded as a whole and can take twenty-five times as much memory as its text."""

_PIECE: Final = 64 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_NEXT_ELEMENT = re.compile(r"[}\]]\s*,\s*(?=[{\[])")
_NEAR_END: Final = 64


@dataclass(frozen=True, slots=True)
class Element:
    """`index` is None for a value that is no array; `key` is empty for the outer array."""

    key: str
    index: int | None
    value: Any

    @property
    def pointer(self) -> str:
        return place(self.key, self.index)


def place(key: str, index: int | None) -> str:
    """`results[3]`, `[3]`, `count`."""
    return key if index is None else f"{key}[{index}]"


class _Broken(ValueError):
    """The text is no JSON here; `at` is the place in the buffer."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.at = at


class _TooLong(_Broken):
    """What stands behind it cannot be told from what is in it."""


def elements(stream: BinaryIO, longest: int = LONGEST_ELEMENT) -> Iterator[Element | Unreadable]:
    """The parts of a document in the order of the file. Bad syntax ends it with an `Unreadable`, and so does an
    element of more than `longest` characters."""
    text = _Text(stream, longest)
    try:
        first = text.peek()
        if first == "[":
            text.take("[")
            yield from _array(text, "")
        elif first == "{":
            yield from _object(text)
        elif first:
            yield Unreadable("start", "is no JSON document")
    except _TooLong as error:
        yield Unreadable("the rest", f"is not read: {error}")
    except (_Broken, *DAMAGED) as error:
        yield Unreadable("the rest", f"cannot be read as JSON ({error})")


def _object(text: _Text) -> Iterator[Element | Unreadable]:
    text.take("{")
    while text.peek() != "}":
        key = text.value()
        if not isinstance(key, str):
            raise _Broken("a key is text", 0)
        text.take(":")
        if text.peek() == "[":
            text.take("[")
            yield from _array(text, key)
        else:
            yield Element(key, None, text.value())
        if text.peek() == ",":
            text.take(",")
        elif text.peek() != "}":
            raise _Broken(f"after {key[:40]!r} a comma or the end was expected", 0)


def _array(text: _Text, key: str) -> Iterator[Element | Unreadable]:
    index = 0
    while text.peek() != "]":
        try:
            yield Element(key, index, text.value())
        except _TooLong as error:
            raise _TooLong(f"{place(key, index)}: {error}", error.at) from None
        except _Broken as error:
            yield Unreadable(place(key, index), f"is no valid JSON ({error})")
            if not text.skip_to_next_element(error.at):
                raise
        index += 1
        if text.peek() == ",":
            text.take(",")
        elif text.peek() != "]":
            raise _Broken(f"after {place(key, index - 1)} a comma or the end was expected", 0)
    text.take("]")


class _Text:
    """The document as a window that moves on: only what is not yet used up is kept."""

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream, self._longest = stream, longest
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def take(self, mark: str) -> None:
        found = self.peek()
        if found != mark:
            raise _Broken(f"{mark!r} was expected, not {found[:1]!r}" if found else "it ends early", self._at)
        self._at += 1

    def value(self) -> Any:
        """The next whole value; reads on while it may only be cut off."""
        if not self.peek():
            raise _Broken("it ends early", self._at)
        while True:
            try:
                found, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                behind = error.pos - self._at
                if self._cut_off(error) and self._more_of_one():
                    continue
                raise _Broken(error.msg, self._at + behind) from None
            except (ValueError, RecursionError) as error:
                raise _Broken(str(error)[:80] or "too deep", self._at) from None
            if end == len(self._text) and not isinstance(found, str | list | dict) and self._more_of_one():
                continue  # a number may go on
            self._at = end
            return found

    def skip_to_next_element(self, at: int) -> bool:
        """Go on behind the next place that looks like the border between two elements."""
        self._at = max(at, self._at)
        while True:
            border = _NEXT_ELEMENT.search(self._text, self._at)
            if border:
                self._at = border.start() + 1
                return True
            self._at = max(self._at, len(self._text) - _NEAR_END)
            if not self._more():
                return False

    def _cut_off(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END

    def _more_of_one(self) -> bool:
        """Read on within an element. Raises `_TooLong`."""
        if len(self._text) - self._at > self._longest:
            raise _TooLong(f"it is longer than {self._longest:,} characters; split it", self._at)
        return self._more()

    def _more(self) -> bool:
        """Read as much again as is kept, so that a long element costs no quadratic time, but not far beyond the
        longest element, which would be decoded before its length is known."""
        if self._ended:
            return False
        kept = self._text[self._at :]
        piece = self._stream.read(max(_PIECE, min(len(kept), self._longest - len(kept))))
        self._ended = not piece
        self._text = kept + self._decoder.decode(piece, final=self._ended)
        self._at = 0
        return not self._ended

"""Readings that mend a text cut in pieces: a word to a line, words broken at line ends, strings joined by code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory.domain.sanitisation.model import View

_WORD_A_LINE: Final = re.compile(r"(?:^|\n)[^\s]{1,24}(?:[ \t]*\n\s*[^\s]{1,24}){3,}[ \t]*(?:\n|$)")
_BROKEN_WORD: Final = re.compile(r"(?<=[a-z])-[ \t]*\n[ \t]*(?=[a-z])")
_JOINED_STRINGS: Final = re.compile(r"([\"'`])\s*(?:\+|\.{1,2}|&|,|\\)?\s*\1")
_LEAST_JOINTS: Final = 2


def mended_views(text: str) -> Iterator[View]:
    """The text with its pieces put together, where it is in pieces."""
    whole = (0, len(text))
    if "\n" in text:
        for match in _WORD_A_LINE.finditer(text):
            yield View("joined_lines", " ".join(match.group().split()), whole=match.span())
        if _BROKEN_WORD.search(text):
            yield View("joined_lines", _BROKEN_WORD.sub("", text), whole=whole)
    if '"' in text or "'" in text or "`" in text:
        joined, joints = _JOINED_STRINGS.subn("", text)
        if joints >= _LEAST_JOINTS:
            yield View("joined_strings", joined.strip("\"'` "), whole=whole)

"""Where a text may be cut: between what a reader sees as characters, never inside one.

A small form of the cluster rules of Unicode Annex 29: marks, joiners, variation selectors, skin tones, flags,
tags, conjoining Hangul and CRLF. It may keep two clusters together; it never cuts one apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

_JOINER: Final = "\u200d"
_EXTENDING: Final = frozenset({"Mn", "Me", "Mc"})
ELLIPSIS: Final = "…"


def _extends(char: str) -> bool:
    point = ord(char)
    return (
        unicodedata.category(char) in _EXTENDING
        or char in "\u200c\u200d\uff9e\uff9f"
        or 0xFE00 <= point <= 0xFE0F
        or 0x1F3FB <= point <= 0x1F3FF
        or 0xE0020 <= point <= 0xE007F
        or 0xE0100 <= point <= 0xE01EF
    )


def _is_flag_letter(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _hangul_glues(left: str, right: str) -> bool:
    """Leading consonants take what follows; vowels and finals attach to any syllable before them."""
    trailing = 0x1160 <= ord(right) <= 0x11FF or 0xD7B0 <= ord(right) <= 0xD7FB
    leading = 0x1100 <= ord(left) <= 0x115F or 0xA960 <= ord(left) <= 0xA97C
    syllable = 0xAC00 <= ord(left) <= 0xD7A3 or 0x1160 <= ord(left) <= 0x11FF or 0xD7B0 <= ord(left) <= 0xD7FB
    return (leading and (trailing or 0x1100 <= ord(right) <= 0x115F or 0xAC00 <= ord(right) <= 0xD7A3)) or (
        syllable and trailing
    )


def _glued(cluster: str, char: str) -> bool:
    """Whether `char` belongs to the cluster before it."""
    if char.isascii():
        return char == "\n" and cluster == "\r"
    if _extends(char) or cluster[-1] == _JOINER:
        return cluster not in ("\r", "\n")
    if _is_flag_letter(char) and _is_flag_letter(cluster[-1]):
        return len(cluster) % 2 == 1
    return _hangul_glues(cluster[-1], char)


def clusters(text: str) -> Iterator[str]:
    """The characters of a text as a reader counts them."""
    start = 0
    for at in range(1, len(text)):
        if not _glued(text[start:at], text[at]):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def cut(text: str, limit: int) -> str:
    """The longest start of the text that has at most `limit` code points and ends between clusters."""
    if len(text) <= limit:
        return text
    kept = 0
    for cluster in clusters(text[: limit + 1]):
        if kept + len(cluster) > limit:
            break
        kept += len(cluster)
    return text[:kept]


def preview(text: str, limit: int) -> str:
    """One line of at most `limit` code points, with an ellipsis where something was left out."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return cut(line, max(limit - 1, 0)).rstrip() + ELLIPSIS

"""Readings that undo a swap of letters: shifted alphabets, the alphabet backwards, words or text turned round, Morse.

A swap is undone where words that are none become common ones. So a text in another language stays as it is.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from typing import Final

from memory.domain.sanitisation.model import View
from memory.domain.sanitisation.words import COMMON_WORDS, is_known_verb

_LETTERS: Final = re.compile(r"[A-Za-z]+")
_RUN: Final = re.compile(r"[!-~]+")
_FEWEST_GAINED: Final = 3
_MOST_TRIED: Final = 16  # words that decide which of the alphabets it is


def _alphabet(order: str) -> dict[int, int]:
    return str.maketrans(string.ascii_letters, order + order.upper())


_ROT13: Final = _alphabet("nopqrstuvwxyzabcdefghijklm")
_ALPHABETS: Final = (
    _alphabet(string.ascii_lowercase[::-1]),
    *(
        _alphabet(string.ascii_lowercase[shift:] + string.ascii_lowercase[:shift])
        for shift in range(1, 26)
        if shift != 13
    ),
)
_ROT47: Final = {code: chr(33 + (code - 33 + 47) % 94) for code in range(33, 127)}
_ROT47_FREQUENT: Final = frozenset("e t a o i n s r".replace(" ", "").translate(_ROT47))
_MORSE: Final = re.compile(r"[.\-–—·•]{1,5}(?:[ /|]+[.\-–—·•]{1,5}){11,}")
_MORSE_LETTERS: Final = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- "
        "--.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.".split(),
        string.ascii_lowercase + string.digits,
        strict=True,
    )
)


def cipher_views(text: str) -> Iterator[View]:
    """The text with a swap of letters undone, where that makes words of it."""
    whole = (0, len(text))
    words = [word for word in _LETTERS.findall(text.lower()) if len(word) > 1]
    if len(words) >= _FEWEST_GAINED + 1:
        strange = [word for word in words if not _known(word)]
        if _gains(strange, _rot13):
            yield _swapped_passage(text, _rot13)
        if _gains(strange, _reverse):
            yield View("reversed", text[::-1], whole=whole)
            yield View("reversed", _LETTERS.sub(lambda match: match.group()[::-1], text), whole=whole)
        if len(strange) * 2 > len(words) and (swap := _alphabet_of(strange)) is not None:
            yield _swapped_passage(text, swap)
        if len(strange) * 5 < len(words) * 4:
            return
    yield from _sign_views(text)


def _gains(strange: list[str], swap: Callable[[str], str]) -> bool:
    gained = sum(1 for word in strange if _known(swap(word)))
    return gained >= _FEWEST_GAINED and gained * 3 >= len(strange)


def _alphabet_of(strange: list[str]) -> Callable[[str], str] | None:
    """The other alphabet in which most of the strange words are common ones."""
    if len(strange) <= _FEWEST_GAINED:
        return None
    tried = [word for word in strange if len(word) > 2][:_MOST_TRIED]
    for table in _ALPHABETS:
        gained = sum(1 for word in tried if _known(word.translate(table)))
        if gained >= _FEWEST_GAINED and gained * 2 >= len(tried):
            return lambda word, table=table: word.translate(table)  # type: ignore[misc]
    return None


def _sign_views(text: str) -> Iterator[View]:
    """Ciphers that make signs of letters: the printable characters shifted by 47, and Morse."""
    for match in _MORSE.finditer(text):
        signs = re.sub(r"[–—]", "-", match.group().replace("·", ".").replace("•", "."))
        words = re.split(r" */ *| *\| *| {2,}", signs)
        plain = " ".join("".join(_MORSE_LETTERS.get(sign, "") for sign in word.split()) for word in words)
        yield View("codes", plain, whole=match.span())
    frequent = sum(1 for character in text if character in _ROT47_FREQUENT)
    if frequent * 3 >= len(text):
        plain = _RUN.sub(lambda match: match.group().translate(_ROT47), text)
        found = [word for word in _LETTERS.findall(plain.lower()) if len(word) > 1]
        if sum(map(_known, found)) >= _FEWEST_GAINED + 1:
            yield View("rot13", plain, whole=(0, len(text)))


def _swapped_passage(text: str, swap: Callable[[str], str]) -> View:
    """What was swapped, from the sentence of the first word that only makes sense so to the last such word.

    Without what stands before it: that is the disguise's frame ("the puzzle says: …"), not a speaker.
    """
    gained = [
        match.span()
        for match in _LETTERS.finditer(text)
        if not _known(match.group().lower()) and _known(swap(match.group().lower()))
    ]
    start, end = _sentence_start(text, gained[0][0]), gained[-1][1]
    plain = _LETTERS.sub(lambda match: swap(match.group()), text[start:end])
    return View("rot13", plain + text[end:], whole=(start, end))


def _sentence_start(text: str, place: int) -> int:
    marks = [text.rfind(mark, 0, place) for mark in (". ", ": ", "\n", "! ", "? ", ", ", "- ")]
    return max(marks) + 1


def _rot13(word: str) -> str:
    return word.translate(_ROT13)


def _reverse(word: str) -> str:
    return word[::-1]


def _known(word: str) -> bool:
    return word in COMMON_WORDS or is_known_verb(word)

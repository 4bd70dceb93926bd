"""Marks of disguise in the form of a text, whatever it says once the disguise is undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memory.domain.sanitisation.model import Match
from memory.domain.sanitisation.unicode_views import LOOK_ALIKES, is_flag, script_of

_TAGS: Final = re.compile("[\U000e0020-\U000e007e]{3,}")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_INSIDE_LATIN: Final = re.compile(
    "(?<=[A-Za-z ])[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u00ad]+(?=[A-Za-z ])"
)
_OVERRIDE: Final = re.compile("[\u202d\u202e][^\u202c\n]*")
_SPACED: Final = re.compile(r"(?<![A-Za-z])[A-Za-z](?:[ ._*-]{1,3}[a-z]){9,}(?![A-Za-z])")
_WORD: Final = re.compile(r"\w{4,}")
_FEWEST_INVISIBLE: Final = 3
_FEWEST_MIXED_WORDS: Final = 2


def hidden_payloads(text: str) -> Iterator[Match]:
    """Passages spelled in characters that are never drawn."""
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        if not is_flag(text, match.start()):
            yield Match(match.span(), "tag_characters")
    for match in _SELECTORS.finditer(text):
        yield Match(match.span(), "variation_selectors")


def disguises(text: str) -> Iterator[Match]:
    """Forms that ordinary writing does not have and that keep a reader, or a filter, from seeing the words."""
    yield from hidden_payloads(text)
    spaced = _SPACED.search(text)
    if spaced is not None:
        yield Match(spaced.span(), "spaced_letters")
    if text.isascii():
        return
    invisible = [match.span() for match in _INSIDE_LATIN.finditer(text)]
    if len(invisible) >= _FEWEST_INVISIBLE:
        yield Match((invisible[0][0], invisible[-1][1]), "invisible_characters")
    override = _OVERRIDE.search(text)
    if override is not None:
        yield Match(override.span(), "direction_override")
    mixed = [match.span() for match in _WORD.finditer(text) if _mixes_scripts(match.group())]
    if len(mixed) >= _FEWEST_MIXED_WORDS:
        yield Match((mixed[0][0], mixed[-1][1]), "mixed_scripts")


def _mixes_scripts(word: str) -> bool:
    """Latin letters with look-alikes of another script among them, not merely a foreign ending or prefix."""
    if word.isascii():
        return False
    scripts = [script for script in map(script_of, word) if script]
    switches = sum(1 for one, two in pairwise(scripts) if one != two)
    foreign = [character for character in word if not character.isascii() and script_of(character) != "LATIN"]
    return switches > 1 and bool(foreign) and all(character in LOOK_ALIKES for character in foreign)

"""Readings of a text that undo disguises of single characters.

Compatibility forms (full width, mathematical letters), invisible format characters, letters of another
script that look like Latin ones, text smuggled in tag characters or variation selectors, and text turned
round by bidirectional controls. Encodings of whole passages are in `encodings`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from confusable_homoglyphs import confusables  # type: ignore[import-untyped]

from memory.domain.sanitisation.model import View

_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
_REVERSED_RUN: Final = re.compile("[\u202e\u2067\u202b]([^\u202c\u2069\n]{4,})")
_WORD: Final = re.compile(r"\w+")
_SCRIPTS: Final = (
    "LATIN",
    "CYRILLIC",
    "GREEK",
    "ARMENIAN",
    "CHEROKEE",
    "COPTIC",
    "HEBREW",
    "LISU",
    "GEORGIAN",
)
# Combining marks are dropped in the reading that folds look-alikes, because "ı́gnore" reads as "ignore".
_LEAST_DISGUISED_LETTERS: Final = 4


def _latin_look_alikes() -> dict[str, str]:
    """Letters of other scripts that a reader takes for a Latin letter, from Unicode's confusables."""
    folded: dict[str, str] = {}
    for character, others in confusables.confusables_data.items():
        if len(character) != 1 or character.isascii() or not character.isalpha():
            continue
        for other in others:
            target = other["c"]
            if len(target) == 1 and target.isascii() and target.isalpha():
                folded[character] = _same_case(character, target)
                break
    return folded


def _same_case(character: str, target: str) -> str:
    # "І" (Cyrillic capital) is listed beside "l"; a reader takes it for a capital I.
    if target == "l" and character.isupper():
        return "I"
    return target


LOOK_ALIKES: Final = _latin_look_alikes()


def _drawn_letters() -> dict[int, str]:
    """Letters that Unicode draws in boxes, circles and small capitals without calling them compatible."""
    drawn = {0x1F1E6 + place: chr(97 + place) for place in range(26)}  # halves of flags
    for first in (0x1F150, 0x1F170):  # white letters in circles and squares
        drawn.update({first + place: chr(97 + place) for place in range(26)})
    for code in (*range(0x1D00, 0x1D80), *range(0x0250, 0x02B0), *range(0xA720, 0xA800)):
        name = unicodedata.name(chr(code), "")
        if re.fullmatch(r"LATIN LETTER SMALL CAPITAL [A-Z]", name):
            drawn[code] = name[-1].lower()
    return drawn


_DRAWN: Final = _drawn_letters()


def unicode_views(text: str) -> list[View]:
    """Every reading of `text` that differs from it. ASCII text has none."""
    if text.isascii():
        return []
    found = _payload_views(text)
    composed = _compatible(text.translate(_DRAWN))
    stripped = _without_invisible(composed)
    folded = _folded(stripped)
    seen = {text}
    for view in (composed, stripped, folded):
        if view.text not in seen:
            seen.add(view.text)
            found.append(view)
    found.extend(_turned_round(text))
    return found


def visible_reading(text: str) -> View:
    """`text` in compatibility form, without invisible characters, each character with its place."""
    if text.isascii():
        return View("original", text)
    stripped = _without_invisible(_compatible(text))
    return stripped if stripped.text != text else View("original", text)


def is_flag(text: str, start: int) -> bool:
    """Whether the tag characters at `start` spell a regional flag, their one ordinary use."""
    match = _FLAG.match(text, start - 1) if start else None
    return match is not None


def _payload_views(text: str) -> list[View]:
    views = []
    for match in _TAGS.finditer(text):
        if not is_flag(text, match.start()):
            decoded = "".join(chr(ord(character) - 0xE0000) for character in match.group())
            views.append(View("tags", decoded, whole=match.span()))
    for match in _SELECTORS.finditer(text):
        decoded = bytes(_selector_byte(character) for character in match.group()).decode("utf-8", "replace")
        views.append(View("selectors", decoded, whole=match.span()))
        # Some encoders put letters straight at selector 17 and up, without the offset of sixteen.
        shifted = "".join(chr(_selector_byte(character) & 0x7F) for character in match.group())
        if shifted != decoded:
            views.append(View("selectors", shifted, whole=match.span()))
    return views


def _selector_byte(character: str) -> int:
    code = ord(character)
    return code - 0xFE00 if code < 0xE0000 else (code - 0xE0100 + 16) & 0xFF


def _compatible(text: str) -> View:
    characters: list[str] = []
    offsets: list[int] = []
    for index, character in enumerate(text):
        plain = character if character.isascii() else unicodedata.normalize("NFKC", character)
        characters.append(plain)
        offsets.extend([index] * len(plain))
    return View("nfkc", "".join(characters), tuple(offsets))


def is_invisible(character: str) -> bool:
    code = ord(character)
    if code < 0x80:
        return False
    if (
        0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE01EF
        or code in (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800)
    ):
        return True
    return unicodedata.category(character) in ("Cf", "Cc", "Cn", "Co")


def _without_invisible(view: View) -> View:
    kept = [(c, offset) for c, offset in zip(view.text, view.offsets, strict=True) if not is_invisible(c)]
    return View("stripped", "".join(c for c, _ in kept), tuple(offset for _, offset in kept))


def script_of(character: str) -> str:
    """The script of a letter as far as look-alikes need it, or an empty text."""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "")
    return next((script for script in _SCRIPTS if name.startswith(script)), "OTHER")


def _folded(view: View) -> View:
    """Look-alikes folded to Latin in words that mix scripts, and in whole words beside Latin ones.

    Marks struck through or stacked on letters are left out first: they part a word into its letters.
    """
    kept = [place for place, character in enumerate(view.text) if not unicodedata.combining(character)]
    if len(kept) < len(view.text):
        offsets = tuple(view.offsets[place] for place in kept)
        view = View(view.name, "".join(view.text[place] for place in kept), offsets)
    text = view.text
    latin_around = any(character.isascii() and character.isalpha() for character in text)
    characters = list(text)
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii() or not latin_around:
            continue
        folded = [_fold_character(character) for character in word]
        if all(character.isascii() for character in folded):
            characters[match.start() : match.end()] = folded
    return View("folded", "".join(characters), view.offsets)


def _fold_character(character: str) -> str:
    if character.isascii():
        return character
    known = LOOK_ALIKES.get(character)
    if known is not None:
        return known
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isascii() else LOOK_ALIKES.get(base, character)


def _turned_round(text: str) -> list[View]:
    views = []
    for match in _REVERSED_RUN.finditer(text):
        views.append(View("bidi", match.group(1)[::-1], whole=match.span()))
    return views

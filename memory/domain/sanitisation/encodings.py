"""Readings of a text that undo an encoding of a whole passage.

Base64, hexadecimal and character codes, percent encoding and escapes, markup that a reader does not see,
letters spaced out, digits for letters, rot13 and text written backwards. Each decoder answers only where
the result reads like text, so that hashes, digests and images are left alone.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from memory.domain.sanitisation.model import View
from memory.domain.sanitisation.words import COMMON_WORDS, is_known_verb

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32: Final = re.compile(r"\b[A-Z2-7]{24,}={0,6}")
_HEX: Final = re.compile(r"(?:\\x|0x|%)?[0-9A-Fa-f]{2}(?:[\s:,]?(?:\\x|0x)?[0-9A-Fa-f]{2}){7,}")
_CODES: Final = re.compile(r"\b\d{2,3}(?:[ ,;]+\d{2,3}){7,}\b")
_BINARY: Final = re.compile(r"\b[01]{8}(?: ?[01]{8}){7,}\b")
_ESCAPES: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}")
_ENTITY: Final = re.compile(r"&(?:#x?[0-9a-fA-F]+|[a-z]{2,8});")
_HIDDEN_MARKUP: Final = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|$)"
    r"|<(?P<tag>[a-z][a-z0-9]*)\b[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
    r"|opacity\s*:\s*0"
    r"|\bhidden\b|aria-hidden|color\s*:\s*(?:#fff(?:fff)?|white|transparent)|(?:left|top"
    r"|text-indent)\s*:\s*-\d{3,})"
    r"[^<>]*>(?P<hidden>.*?)(?:</(?P=tag)>|$)"
    r"|\[//\]:\s*#\s*\(?[\"']?(?P<remark>[^\n\"')]+)"
    r"|/\*(?P<block>.*?)\*/"
    r"|<(?:template|noscript|script|style|meta|title)\b[^<>]*>(?P<inert>.*?)</"
    r"|\b(?:alt|title|content|aria-label|data-[a-z]+)\s*=\s*\"(?P<attribute>[^\"]{12,})\"",
    re.IGNORECASE | re.DOTALL,
)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_SPACED: Final = re.compile(r"(?<![A-Za-z])[A-Za-z](?:(?:[ ._*-]{1,3}|\s{2,4})[A-Za-z]){6,}(?![A-Za-z])")
_LEET_WORD: Final = re.compile(r"[A-Za-z013457@$!|]{3,}")
_LEET_NUMBER: Final = re.compile(r"(?<![\w.,$€£/-])[013457@$!|]{2,4}(?![\w.,/-]|\s*%)")
_LEET: Final = str.maketrans("013457@$!|", "oieastasil")
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_READABLE: Final = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
_LEAST_LEET_WORDS = 2


def decoded_views(text: str) -> Iterator[View]:
    """Every passage of `text` that decodes to something readable."""
    for pattern, decode, name in _PASSAGES:
        for match in pattern.finditer(text):
            plain = decode(match.group())
            if plain is not None and _readable(plain):
                yield View(name, plain, whole=match.span())
    yield from _whole_text_views(text)


def _whole_text_views(text: str) -> Iterator[View]:
    if "%" in text:
        yield from _if_changed("url", text, unquote(text.replace("+", " ")))
    if "\\" in text and _ESCAPES.search(text):
        plain = _ESCAPES.sub(lambda match: chr(int(match.group()[2:], base=16)), text)
        yield from _if_changed("escapes", text, plain)
    if "&" in text and _ENTITY.search(text):
        yield from _if_changed("entities", text, html.unescape(text))
    if "<" in text or "[//]" in text or "/*" in text or '="' in text:
        yield from _markup_views(text)
    spaced = _SPACED.search(text)
    if spaced is not None:
        yield View("spaced", _joined_letters(spaced.group()), whole=spaced.span())
    yield from _leet_view(text)
    yield from _letter_swap_views(text)


def _if_changed(name: str, text: str, plain: str) -> Iterator[View]:
    if plain != text:
        yield View(name, plain, whole=(0, len(text)))


def _markup_views(text: str) -> Iterator[View]:
    for match in _HIDDEN_MARKUP.finditer(text):
        inner = next((group for key, group in match.groupdict().items() if group and key != "tag"), "")
        plain = _TAG.sub(" ", html.unescape(inner)).strip()
        if plain:
            yield View("comment" if match["comment"] else "hidden", plain, whole=match.span())
    if _TAG.search(text):
        without = _TAG.sub("", text)
        yield from _if_changed("untagged", text, without)


def _joined_letters(passage: str) -> str:
    words = re.split(r"\s{2,}|(?<=[A-Za-z])[ ]*[/|][ ]*", passage)
    return " ".join(re.sub(r"[^A-Za-z]", "", word) for word in words)


def _leet_view(text: str) -> Iterator[View]:
    changed = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal changed
        if match.group().isalpha():
            return match.group()
        plain = match.group().translate(_LEET)
        if is_known_verb(plain.lower()) or plain.lower() in COMMON_WORDS:
            changed += 1
        return plain

    plain = _LEET_WORD.sub(replace, text)
    if changed >= _LEAST_LEET_WORDS:
        plain = _LEET_NUMBER.sub(lambda match: match.group().translate(_LEET), plain)
        yield View("leet", plain, whole=(0, len(text)))


def _letter_swap_views(text: str) -> Iterator[View]:
    words = [word for word in re.findall(r"[A-Za-z]+", text.lower()) if len(word) > 1]
    if len(words) < 4:
        return
    for name, swap in (("rot13", _rot13), ("reversed", _reverse)):
        strange = [word for word in words if not _known(word)]
        gained = sum(1 for word in strange if _known(swap(word)))
        if gained >= 3 and gained * 3 >= len(strange):
            plain = _swap_passage(text, swap) if name == "rot13" else text[::-1]
            yield View(name, plain, whole=(0, len(text)))


def _swap_passage(text: str, swap: Callable[[str], str]) -> str:
    """`text` with everything swapped from the first to the last word that only makes sense swapped."""
    gained = [
        match.span()
        for match in _LETTERS.finditer(text)
        if not _known(match.group().lower()) and _known(swap(match.group().lower()))
    ]
    start, end = gained[0][0], gained[-1][1]
    return text[:start] + _LETTERS.sub(lambda match: swap(match.group()), text[start:end]) + text[end:]


def _rot13(word: str) -> str:
    return codecs.encode(word, "rot13")


def _reverse(word: str) -> str:
    return word[::-1]


def _known(word: str) -> bool:
    return word in COMMON_WORDS or is_known_verb(word)


def _readable(plain: str) -> bool:
    """Whether decoded bytes are text that someone wrote: several words, hardly any control characters."""
    if len(plain) < 8:
        return False
    printable = sum(1 for character in plain if character.isprintable() or character in "\r\n\t")
    letters = sum(1 for character in plain if character.isalpha() or character == " ")
    return (
        printable >= 0.95 * len(plain) and letters >= 0.6 * len(plain) and len(_READABLE.findall(plain)) > 1
    )


def _from_base64(passage: str) -> str | None:
    body = passage.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return None
    return _text(raw)


def _from_base32(passage: str) -> str | None:
    body = passage.rstrip("=")
    try:
        return _text(base64.b32decode(body + "=" * (-len(body) % 8)))
    except (binascii.Error, ValueError):
        return None


def _text(raw: bytes) -> str | None:
    if raw[1::2].count(0) * 2 > len(raw[1::2]):
        raw = raw[0::2]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw[:-2].decode("utf-8", "ignore") or None


def _from_hex(passage: str) -> str | None:
    digits = re.sub(r"\\x|0x|[^0-9A-Fa-f]", "", passage)
    return _text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_codes(passage: str) -> str | None:
    return "".join(chr(int(code)) for code in re.findall(r"\d+", passage))


def _from_binary(passage: str) -> str | None:
    digits = passage.replace(" ", "")
    return "".join(chr(int(digits[at : at + 8], 2)) for at in range(0, len(digits) - 7, 8))


_PASSAGES: Final[tuple[tuple[re.Pattern[str], Callable[[str], str | None], str], ...]] = (
    (_BASE64, _from_base64, "base64"),
    (_BASE32, _from_base32, "base32"),
    (_HEX, _from_hex, "hex"),
    (_CODES, _from_codes, "codes"),
    (_BINARY, _from_binary, "binary"),
)

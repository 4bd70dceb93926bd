"""Readings of a text that undo an encoding of a whole passage.

Base64, hexadecimal and character codes, percent encoding and escapes, markup that a reader does not see,
letters spaced out, digits for letters, rot13 and text written backwards. Each decoder answers only where
the result reads like text, so that hashes, digests and images are left alone.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final
from urllib.parse import unquote

from memory.domain.sanitisation.ciphers import cipher_views
from memory.domain.sanitisation.mended_lines import mended_views
from memory.domain.sanitisation.model import View
from memory.domain.sanitisation.words import COMMON_WORDS, is_known_verb

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32: Final = re.compile(r"\b[A-Z2-7]{24,}={0,6}")
# In groups of four, or in lines as mail breaks them.
_BASE64_BROKEN: Final = re.compile(
    r"(?<![^\s])(?:[A-Za-z0-9+/]{4}[ \n]){5,}[A-Za-z0-9+/]{2,4}={0,2}(?![^\s])"
    r"|(?<![^\s])(?:[A-Za-z0-9+/]{16,76}\s){1,200}[A-Za-z0-9+/]{2,76}={0,2}(?![^\s])"
)
_BASE85: Final = re.compile(r"<~[^~]{16,}~>|(?<!\S)[!-~]{24,}(?!\S)")
_HEX: Final = re.compile(r"(?:\\x|0x|%|=)?[0-9A-Fa-f]{2}(?:[\s:,=]{0,2}(?:\\x|0x)?[0-9A-Fa-f]{2}){7,}")
_CODES: Final = re.compile(r"\b\d{2,3}(?:[ ,;]+\d{2,3}){7,}\b")
_OCTAL: Final = re.compile(r"\\?[01][0-7]{2}(?:[ ,;]*\\?[01][0-7]{2}){7,}")
_BINARY: Final = re.compile(r"\b[01]{8}(?: ?[01]{8}){7,}\b")
_ESCAPES: Final = re.compile(
    r"\\u\{0{0,4}([0-9a-fA-F]{1,5})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U000([0-9a-fA-F]{5})"
)
_ENTITY: Final = re.compile(r"&(?:#x?[0-9a-fA-F]+(?:;|\b)|[a-z]{2,8};)")
_HIDDEN_MARKUP: Final = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|$)"
    r"|<(?P<tag>[a-z][a-z0-9]*)\b[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
    r"|opacity\s*:\s*0"
    r"|\bhidden\b|aria-hidden|color\s*:\s*(?:#fff(?:fff)?|white|transparent)|(?:left|top"
    r"|text-indent)\s*:\s*-\d{3,})"
    r"[^<>]*>(?P<hidden>.*?)(?:</(?P=tag)>|$)"
    r"|\[//\]:\s*#\s*\(?[\"']?(?P<remark>[^\n\"')]+)"
    r"|/\*(?P<block>.*?)\*/|<!\[CDATA\[(?P<data>.*?)\]\]>|!\[(?P<picture>[^\]\n]{12,})\]\("
    r"|<(?:template|noscript|script|style|meta|title)\b[^<>]*>(?P<inert>.*?)</",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    r"\b(?:alt|title|content|value|placeholder|summary|aria-label|data-[a-z]+)\s*=\s*"
    r"(?:\"(?P<text>[^\"]{12,})\"|'(?P<single>[^'<>]{12,})')",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_EMPTY_COMMENT: Final = re.compile(r"<!--[^<>]{0,20}-->")
# Blocks part what is before from what is after; inline marks stand inside a word.
_BLOCK_TAG: Final = re.compile(
    r"</?(?:p|div|li|ul|ol|br|hr|h[1-6]|td|tr|th|table|section|summary|details|title|desc|option)\b[^<>]*>",
    re.IGNORECASE,
)
_SPACED: Final = re.compile(r"(?<![A-Za-z])[A-Za-z](?:(?:[ ._*-]{1,3}|\s{2,4})[A-Za-z]){6,}(?![A-Za-z])")
_LEET_WORD: Final = re.compile(r"[A-Za-z013457@$!|]{3,}")
_LEET_NUMBER: Final = re.compile(r"(?<![\w.,$€£/-])[013457@$!|]{2,4}(?![\w.,/-]|\s*%)")
_LEET: Final = str.maketrans("013457@$!|", "oieastasil")
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
        plain = _ESCAPES.sub(lambda match: chr(int(match[match.lastindex or 0], base=16)), text)
        yield from _if_changed("escapes", text, plain)
    if "&" in text and _ENTITY.search(text):
        yield from _if_changed("entities", text, html.unescape(text))
    if any(mark in text for mark in ("<", "[//]", "/*", '="', "='", "![")):
        yield from _markup_views(text)
    spaced = _SPACED.search(text)
    if spaced is not None:
        yield View("spaced", _joined_letters(spaced.group()), whole=spaced.span())
    yield from _leet_view(text)
    yield from cipher_views(text)
    yield from mended_views(text)


def _if_changed(name: str, text: str, plain: str) -> Iterator[View]:
    if plain != text:
        yield View(name, plain, whole=(0, len(text)))


def _markup_views(text: str) -> Iterator[View]:
    for match in chain(_HIDDEN_MARKUP.finditer(text), _ATTRIBUTE.finditer(text)):
        inner = next((group for key, group in match.groupdict().items() if group and key != "tag"), "")
        plain = _TAG.sub(" ", html.unescape(inner)).strip()
        if plain:
            yield View("comment" if match.groupdict().get("comment") else "hidden", plain, whole=match.span())
    if _TAG.search(text) or _EMPTY_COMMENT.search(text):
        without = _TAG.sub("", _BLOCK_TAG.sub("\n", _EMPTY_COMMENT.sub("", text)))
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


def _from_broken_base64(passage: str) -> str | None:
    return _from_base64("".join(passage.split()))


def _from_base85(passage: str) -> str | None:
    try:
        if passage.startswith("<~"):
            return _text(base64.a85decode(passage[2:-2]))
        return _text(base64.b85decode(passage))
    except ValueError:
        return None


def _from_octal(passage: str) -> str | None:
    return "".join(chr(int(code, base=8)) for code in re.findall(r"[01][0-7]{2}", passage))


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
    (_BASE64_BROKEN, _from_broken_base64, "base64"),
    (_BASE85, _from_base85, "base85"),
    (_BASE32, _from_base32, "base32"),
    (_HEX, _from_hex, "hex"),
    (_CODES, _from_codes, "codes"),
    (_OCTAL, _from_octal, "codes"),
    (_BINARY, _from_binary, "binary"),
)

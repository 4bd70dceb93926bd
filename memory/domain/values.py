"""When two values are the same: a canonical form per kind of value, and its hash.

Only safe equalities live here, those that hold in any language. Likeness of meaning is judged in
`memory.domain.similarity`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from hashlib import sha256
from typing import Final

from memory.domain.value_words import CURRENCIES, FALSE_WORDS, LANGUAGES, MONTHS, TIME_ZONES, TRUE_WORDS


class Normaliser(StrEnum):
    """How the values of a predicate are brought into one form."""

    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER = "number"
    CURRENCY = "currency"
    TIMEZONE = "timezone"
    DATE = "date"
    LANGUAGE = "language"
    EMAIL = "email"


_EDGES: Final = " \t\n\r\"'`“”‘’«»"
_TAIL: Final = _EDGES + ".,;:!。、！；：．"
_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d[\d,.' ]*|\.\d+)")
_MONEY = re.compile(
    r"(?P<before>[^\d\s+-]*)\s*(?P<number>[+-]?\d[\d,.' ]*)\s*(?P<kilo>k|m)?\s*(?P<after>[^\d\s]*)"
)
_ISO_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([a-z]+)\.?,?(?:\s+(\d{4}))?")
_MONTH_DAY = re.compile(r"([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?(?:\s+(\d{4}))?")


def canonical_text(text: str) -> str:
    """Compatibility form, folded case, single spaces, no invisible characters, quotes or closing marks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    visible = "".join(c for c in folded if unicodedata.category(c) != "Cf" or c in "\u200c\u200d")
    line = " ".join(visible.split())
    return line.lstrip(_EDGES).rstrip(_TAIL) or line


def value_key(value: str, normaliser: Normaliser | str = Normaliser.TEXT) -> str:
    """The canonical form of a value. A value that the normaliser cannot read is compared as text."""
    text = canonical_text(value)
    reader = _READERS.get(Normaliser(normaliser))
    return (reader(text) if reader else None) or text


def value_hash(value: str, normaliser: Normaliser | str = Normaliser.TEXT) -> bytes:
    """SHA-256 of the canonical form; taking it of a form that is canonical already gives the same."""
    return sha256(value_key(value, normaliser).encode()).digest()


def value_text(value: object) -> str:
    """The text of a value as JSON may bring it: text, number or truth value; ValueError for the rest."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return format(Decimal(str(value)), "f") if abs(value) < 10**18 else str(value)
    raise ValueError("a value is text, a number, true or false")


def _boolean(text: str) -> str | None:
    return "true" if text in TRUE_WORDS else "false" if text in FALSE_WORDS else None


def _decimal(text: str) -> Decimal | None:
    """Read `1,200.50`, `1.200,50`, `1 200`. A lone comma groups thousands, a lone point divides."""
    digits = re.sub(r"[ ']", "", text)
    if "," in digits and "." in digits:
        mark = max(",.", key=digits.rfind)
        digits = digits.replace("." if mark == "," else ",", "").replace(mark, ".")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    elif re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+", digits):
        digits = digits.replace(",", "")
    else:
        digits = digits.replace(",", ".")
    try:
        return Decimal(digits)
    except InvalidOperation:
        return None


def _shown(number: Decimal) -> str:
    plain = format(number, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def _number(text: str) -> str | None:
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    number = _decimal(text)
    return None if number is None else _shown(number)


def _currency(text: str) -> str | None:
    match = _MONEY.fullmatch(text)
    if not match:
        return None
    words = [word for word in (match["before"].strip(), match["after"].strip(" .")) if word]
    code = CURRENCIES.get(words[0]) if len(words) == 1 else None
    number = _decimal(match["number"])
    if code is None or number is None:
        return None
    return f"{code} {_shown(number * {'k': 1000, 'm': 1_000_000}.get(match['kilo'] or '', 1))}"


def _timezone(text: str) -> str | None:
    name = text.replace(" ", "_") if "/" in text else text
    if name in TIME_ZONES:
        return TIME_ZONES[name]
    offset = _OFFSET.fullmatch(text)
    if offset:
        return f"utc{offset[1]}{int(offset[2]):02d}:{offset[3] or '00'}"
    return name


def _date(text: str) -> str | None:
    """ISO dates and dates that name the month; `03/04/2025` stays text, since it has two readings."""
    if match := _ISO_DATE.fullmatch(text):
        return f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}"
    if match := _DAY_MONTH.fullmatch(text):
        day, month, year = match[1], match[2], match[3]
    elif match := _MONTH_DAY.fullmatch(text):
        month, day, year = match[1], match[2], match[3]
    else:
        return None
    number = MONTHS.get(month[:3]) if month in MONTHS or len(month) > 3 else None
    return f"{year or '-'}-{number:02d}-{int(day):02d}" if number else None


def _language(text: str) -> str | None:
    return LANGUAGES.get(text)


def _email(text: str) -> str | None:
    return text.removeprefix("mailto:").strip("<> ")


_READERS: Final[dict[Normaliser, Callable[[str], str | None]]] = {
    Normaliser.BOOLEAN: _boolean,
    Normaliser.NUMBER: _number,
    Normaliser.CURRENCY: _currency,
    Normaliser.TIMEZONE: _timezone,
    Normaliser.DATE: _date,
    Normaliser.LANGUAGE: _language,
    Normaliser.EMAIL: _email,
}

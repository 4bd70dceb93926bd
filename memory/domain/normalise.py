"""Bring what a writer sends into one form before any rule looks at it, or say why that is impossible.

Text, metadata, names, durations. Sameness of values is in `values`, where a text may be cut in `graphemes`;
both are offered here as well, since writers need them together.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from memory.domain.graphemes import cut, preview
from memory.domain.policy_write_rules import TextLimits
from memory.domain.values import Normaliser, canonical_text, value_hash, value_key, value_text

__all__ = [
    "NAME_LIMIT", "BadText", "Normaliser", "TooLong", "canonical_text", "content_of", "cut",
    "normalise_metadata", "normalise_predicate", "normalise_subject", "normalise_text", "parse_ttl",
    "preview", "value_hash", "value_key", "value_text",
]  # fmt: skip

NAME_LIMIT: Final = 256
"""Characters of a subject, session, task, tool, tag or path."""

_DEFAULT_LIMIT: Final = TextLimits().content_characters
_TTL = re.compile(r"(\d{1,9})\s*([wdhms]?)", re.ASCII)
_SECONDS: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1, "": 1}
_LONGEST_TTL: Final = timedelta(days=36_500)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")
_BIGGEST_INT_BITS: Final = 1024


class BadText(ValueError):
    """A text that cannot be stored as it is; the field and what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class TooLong(ValueError):
    """A field above its limit; `unit` says what is counted."""

    def __init__(self, field: str, limit: int, actual: int, unit: str = "characters") -> None:
        super().__init__(f"{field}: {actual} {unit}, at most {limit} are allowed")
        self.field = field
        self.limit = limit
        self.actual = actual
        self.unit = unit


def normalise_text(text: str, field: str = "content", limit: int = _DEFAULT_LIMIT) -> str:
    """NFC, without NUL and outer white space. Raises BadText for lone surrogates, TooLong above the limit."""
    if _SURROGATE.search(text):
        raise BadText(field, "contains a lone surrogate, which no encoding can carry")
    if len(text) > 4 * limit:  # composing cannot shorten it enough; do not spend time on it
        raise TooLong(field, limit, len(text))
    clean = unicodedata.normalize("NFC", text.replace("\x00", "")).strip()
    if len(clean) > limit:
        raise TooLong(field, limit, len(clean))
    return clean


def normalise_metadata(metadata: Mapping[str, object], limits: TextLimits | None = None) -> dict[str, object]:
    """The same for every text inside, plus limits of size, depth and number of keys. JSON values only."""
    limits = limits or TextLimits()
    counter = [0]
    clean = {
        _text(key, "metadata"): _json_value(value, f"metadata.{key[:60]}", 1, limits, counter)
        for key, value in metadata.items()
    }
    counter[0] += len(clean)
    if counter[0] > limits.metadata_keys:
        raise TooLong("metadata", limits.metadata_keys, counter[0], "keys")
    size = len(json.dumps(clean, ensure_ascii=False).encode())
    if size > limits.metadata_bytes:
        raise TooLong("metadata", limits.metadata_bytes, size, "bytes")
    return clean


def _text(text: object, field: str) -> str:
    if not isinstance(text, str):
        raise BadText(field, "every key must be text")
    if _SURROGATE.search(text):
        raise BadText(field, "contains a lone surrogate, which no encoding can carry")
    return unicodedata.normalize("NFC", text.replace("\x00", ""))


def _json_value(value: object, field: str, depth: int, limits: TextLimits, counter: list[int]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, field)
    if isinstance(value, int | float):
        return _finite(value, field)
    if not isinstance(value, Mapping | list | tuple):
        raise BadText(field, f"{type(value).__name__} is not a JSON value")
    if depth >= limits.metadata_depth:
        raise TooLong("metadata", limits.metadata_depth, depth + 1, "levels")
    counter[0] += len(value)
    if counter[0] > limits.metadata_keys:
        raise TooLong("metadata", limits.metadata_keys, counter[0], "keys")
    if isinstance(value, Mapping):
        return {
            _text(key, field): _json_value(inner, f"{field}.{str(key)[:60]}", depth + 1, limits, counter)
            for key, inner in value.items()
        }
    return [
        _json_value(inner, f"{field}[{at}]", depth + 1, limits, counter) for at, inner in enumerate(value)
    ]


def _finite(value: int | float, field: str) -> int | float:
    if isinstance(value, float) and not math.isfinite(value):
        raise BadText(field, "not a finite number")
    if isinstance(value, int) and value.bit_length() > _BIGGEST_INT_BITS:
        raise BadText(field, "the number is too large")
    return value


def normalise_predicate(predicate: str) -> str:
    """`Time Zone`, `time-zone`, `timeZone` → `time_zone`. Empty when there is no letter or digit in it."""
    clean = _CAMEL.sub("_", normalise_text(predicate, "predicate", NAME_LIMIT))
    folded = unicodedata.normalize("NFKC", clean).casefold()
    return _NOT_WORD.sub("_", folded).strip("_")


def normalise_subject(subject: str, aliases: Mapping[str, str] | None = None) -> str:
    """Folded case and spacing, then the tenant's alias table, whose keys are folded too."""
    name = canonical_text(normalise_text(subject, "subject", NAME_LIMIT))
    seen = {name}
    while aliases and name in aliases:
        name = canonical_text(aliases[name])
        if name in seen:
            break
        seen.add(name)
    return name


def content_of(subject: str, predicate: str, value: str) -> str:
    """The sentence that stands for a triple where the writer gave none: `user:42 plan: enterprise`."""
    return f"{subject} {predicate.replace('_', ' ')}: {value}"


def parse_ttl(value: object) -> timedelta | None:
    """Seconds as a number, or `2w`, `14d`, `12h`, `30m`, `45s`; None stays None. ValueError otherwise."""
    if value is None:
        return None
    match = _TTL.fullmatch(str(value).strip()) if isinstance(value, int | str) and not _huge(value) else None
    if match is None or isinstance(value, bool):
        raise ValueError("ttl: give seconds, or a number with w, d, h, m or s, such as 2w")
    seconds = int(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds <= _LONGEST_TTL.total_seconds():
        raise ValueError("ttl: must be longer than nothing and at most 100 years")
    return timedelta(seconds=seconds)


def _huge(value: int | str) -> bool:
    """Python refuses to print an int of thousands of digits; no duration needs one."""
    return isinstance(value, int) and value.bit_length() > _BIGGEST_INT_BITS

"""Reading request bodies: JSON in UTF-8, strictly, or a problem that says what is wrong with it.

Only what no field could say is checked here (encoding, shape, size, depth); fields are for the serializers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from django.http.request import RawPostDataException
from rest_framework.parsers import BaseParser

from memgov.bodies import is_packed
from memory.api.problems import ProblemError, stop

MAX_DEPTH = 24
MAX_DIGITS = 400
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJSONParser(BaseParser):
    """An object of JSON.  Refuses duplicate keys, NaN, lone surrogates, deep nesting and large bodies."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The object in the body.  Raises 400, 411, 413 or 415 problems."""
        request = (parser_context or {})["request"]
        _check_headers(request.META, request.content_type)
        try:
            text = request.body.decode("utf-8")  # which is kept: a call may be begun anew
        except UnicodeDecodeError:
            raise malformed("the body is not UTF-8") from None
        except (OSError, RawPostDataException):
            raise malformed("the body ended before its Content-Length") from None
        value = _load(text)
        if not isinstance(value, dict):
            raise malformed("the body has to be a JSON object", code="not_an_object")
        _check(value, 1)
        return value


def refuse_packed(content_encoding: str) -> None:
    """Refuse a body that its `Content-Encoding` calls packed.  Raises a 415 problem."""
    if is_packed(content_encoding):
        raise stop(
            415,
            "unsupported_encoding",
            f"a body is read as it comes, never unpacked from {content_encoding[:40]!r}; send it plain, without "
            "`Content-Encoding`; nothing was stored",
            accept_encoding="identity",
        )


def malformed(detail: str, code: str = "malformed") -> ProblemError:
    """A 400 about the body as a whole."""
    return stop(400, code, f"{detail}; nothing was stored")


def _check_headers(meta: Mapping[str, str], content_type: str) -> None:
    charset = content_type.lower().partition("charset=")[2].strip().strip('"')
    if charset not in ("", "utf-8", "utf8"):
        raise stop(415, "unsupported_media_type", f"JSON is read as UTF-8, not {charset[:40]!r}")
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(meta.get("CONTENT_LENGTH") or 0) > limit:
        raise stop(
            413, "body_too_large", f"a body has at most {limit} bytes; split the batch; nothing was stored"
        )


def _load(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except RecursionError:
        raise malformed(f"the body nests deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise malformed(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two values under one key: readers disagree on which counts, so neither does."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise malformed(f"the key {key[:80]!r} stands twice in one object", code="duplicate_key")
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise malformed(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise malformed(f"a number has at most {MAX_DIGITS} digits")
    return int(digits)


def _check(value: Any, depth: int) -> None:
    """What `json` lets pass: depth, numbers beyond a float, half characters."""
    if depth > MAX_DEPTH:
        raise malformed(f"the body nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise malformed("a number is too large")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _check_text(text: str) -> None:
    if _SURROGATE.search(text):
        raise malformed("a text holds a lone surrogate (half of a \\u pair), which no encoding can carry",
                        code="lone_surrogate")  # fmt: skip

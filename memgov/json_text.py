"""Our own values as JSON, for what every call writes: several times as quick as the standard library."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """The value as JSON; times in ISO 8601, ids as text, and by `default` what JSON has no form for."""
    return json_bytes(value, default).decode()


def json_bytes(value: Any, default: Callable[[Any], Any] | None = None, *, options: int = 0) -> bytes:
    """The same in UTF-8.  `options` are orjson's."""
    try:
        return orjson.dumps(value, default, options)
    except orjson.JSONEncodeError:
        # It writes no integer beyond 64 bits, and metadata may hold one.
        return json.dumps(
            value, default=default or _plain, ensure_ascii=False, separators=(",", ":")
        ).encode()


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")

"""One call of the API as a value: what to send, and how to read what comes back.  No input or output here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import quote

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What came back.  ``data`` is the JSON of the body, None when there is none."""

    status: int
    headers: Mapping[str, str]
    data: Any


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request below `/api/v1/`, and the reader of its answer.

    ``operation`` names the span.  ``also`` are statuses from 300 on that are answers and no errors.  ``repeatable``
    says that sending it again does no harm when the answer was lost; a call with an idempotency key always is.
    """

    operation: str
    method: str
    path: str
    read: Callable[[Answer], T]
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    also: frozenset[int] = frozenset()
    repeatable: bool = False
    keyed: bool = False
    idempotency_key: str | None = None
    attributes: Mapping[str, str | int] = field(default_factory=dict)


def path(*parts: str) -> str:
    """Parts of an address, each quoted whole.

    Raises ValueError for an empty part, for dots and for a slash, which would lead elsewhere: servers take a quoted
    slash for a slash.
    """
    for part in parts:
        if not part or part in (".", "..") or "/" in part:
            raise ValueError(f"{part!r} cannot stand in an address")
    return "/".join(quote(part, safe="") for part in parts)


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not None, as JSON values."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


def plain(value: Any) -> Any:
    """A value as JSON has it.  Raises ValueError for a time without a zone: it means many moments."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("give times with their zone, as in datetime.now(timezone.utc)")
        return value.isoformat()
    if isinstance(value, timedelta):
        return max(1, round(value.total_seconds()))
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(inner) for inner in value)
    return value


def as_params(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields that are not None, as an address holds them: `a,b` for several, `true`, ISO times."""
    return {name: _param(value) for name, value in given(fields).items()}


def _param(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(str(one) for one in value)
    return str(value)


def encode(body: Mapping[str, Any]) -> bytes:
    """The body's bytes.  Raises ValueError for what JSON does not have (NaN) and for lone surrogates."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")

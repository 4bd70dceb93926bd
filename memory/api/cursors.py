"""Cursor pages on the wire: opaque signed cursors, `next` and `previous` as addresses to follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.core import signing
from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from memory.api.problems import stop
from memory.selectors.listing import Cursor, Page, page

DEFAULT_SIZE = 50

M = TypeVar("M", bound=Model)


def read_page(rows: QuerySet[M], key: str, query: Mapping[str, Any], name: str) -> Page[M]:
    """The page that the parameters ask for; ``name`` binds cursors to one list."""
    cursor = _read_cursor(query.get("cursor"), name)
    return page(rows, key, query.get("page_size", DEFAULT_SIZE), cursor)


def page_json(
    request: Request, name: str, found: Page[M], show: Callable[[M], dict[str, Any]]
) -> dict[str, Any]:
    """`{"results", "next", "previous"}`"""
    return {
        "results": [show(row) for row in found.rows],
        "next": _address(request, name, found.next),
        "previous": _address(request, name, found.previous),
    }


def _address(request: Request, name: str, cursor: Cursor | None) -> str | None:
    if cursor is None:
        return None
    key = cursor.key.hex if isinstance(cursor.key, UUID) else cursor.key
    text = signing.dumps([key, cursor.back], salt=f"memgov.cursor.{name}")
    return replace_query_param(request.build_absolute_uri(), "cursor", text)


def _read_cursor(text: str | None, name: str) -> Cursor | None:
    if not text:
        return None
    try:
        key, back = signing.loads(text, salt=f"memgov.cursor.{name}")
    except signing.BadSignature:
        raise stop(400, "bad_cursor", "the cursor is not one of this list; start again without it",
                   field="cursor") from None  # fmt: skip
    return Cursor(UUID(hex=key) if isinstance(key, str) else key, back)

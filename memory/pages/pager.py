"""Links to the pages around a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from memory.selectors.pages_paging import Slice


def pager(base: str, query: Mapping[str, str], page: Slice[Any], total: int | None) -> dict[str, Any]:
    """What `_pager.html` draws; the query string carries the filters on."""
    kept = {name: value for name, value in query.items() if value}

    def link(cursor: str) -> str:
        return f"{base}?{urlencode({**kept, 'at': cursor})}" if cursor else ""

    return {
        "previous_url": link(page.previous),
        "next_url": link(page.next),
        "shown": len(page.rows),
        "total": total,
    }

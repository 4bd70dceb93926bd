"""The file of an exported tenant: its lines, how it proves to be whole, and cells that no spreadsheet executes.

The format is described in docs/export.md.  Reading and writing files, and rows, is not done here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

FORMAT: Final = "memgov tenant export"
VERSION: Final = 1
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class BadLine(ValueError):
    """A line that is none of the format's; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    table: str
    columns: dict[str, Any]


def line_of(document: Mapping[str, Any]) -> bytes:
    """One line of the file."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def row_in(line: bytes) -> Row:
    """The row in a line.  Raises BadLine."""
    found = object_in(line)
    table, columns = found.get("table"), found.get("row")
    if not isinstance(table, str) or not isinstance(columns, dict):
        raise BadLine("it has no `table` with a `row`")
    return Row(table, columns)


def object_in(line: bytes) -> dict[str, Any]:
    """The JSON object of a line.  Raises BadLine."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"it is not JSON in UTF-8 ({error.__class__.__name__})") from None
    if not isinstance(found, dict):
        raise BadLine("it is not a JSON object")
    return found


def header_in(line: bytes) -> dict[str, Any]:
    """The first line.  Raises BadLine for another format, or a newer version of this one."""
    found = object_in(line)
    if found.get("format") != FORMAT:
        raise BadLine(f"it does not begin with the heading of a {FORMAT}")
    if found.get("version") != VERSION:
        raise BadLine(f"it is of version {found.get('version')!r}, and this memgov reads version {VERSION}")
    if not isinstance(found.get("tenant"), dict) or not isinstance(found.get("columns"), dict):
        raise BadLine("its heading lacks the tenant or the columns")
    return found


def cell(value: object) -> object:
    """A value as a cell of CSV: what a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.lstrip(" \u00a0\ufeff").startswith(_FORMULA):
        return "'" + value
    return value

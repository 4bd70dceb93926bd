"""JSON rows wherever they stand: one a line, in an outer array, or in an array inside a document.

Knows nothing of any format. A format says what a row means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from memory.importers import json_stream, text_lines
from memory.importers.records import Unreadable
from memory.importers.source import Source

WRAPPERS: Final = (
    "results",
    "memories",
    "edges",
    "facts",
    "items",
    "data",
    "records",
    "entities",
    "relations",
)
"""Arrays inside a document whose elements are rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object; `key` is the array that it stood in, empty for a line or an outer array."""

    pointer: str
    value: dict[str, Any]
    key: str = ""


def rows(source: Source, layout: str) -> Iterator[Row | Unreadable]:
    """The objects of a source; `layout` is `lines` or `document`, as `detect` told it."""
    with source.open() as stream:
        if layout == "lines":
            for line in text_lines.lines(stream):
                yield line if isinstance(line, Unreadable) else parsed(line)
            return
        for part in json_stream.elements(stream):
            if isinstance(part, Unreadable):
                yield part
            elif part.index is not None and (not part.key or part.key in WRAPPERS):
                yield _row(part.value, part.pointer, part.key)


def parsed(line: text_lines.Line) -> Row | Unreadable:
    """A line as a row."""
    try:
        return _row(json.loads(line.text), line.pointer, "")
    except json.JSONDecodeError as error:
        return Unreadable(line.pointer, f"is no valid JSON ({error.msg} at character {error.pos + 1})")
    except (ValueError, RecursionError) as error:
        return Unreadable(line.pointer, f"is no valid JSON ({str(error)[:80] or 'too deep'})")


def as_row(value: object) -> dict[str, Any] | None:
    """An object as it is; a bare text as the object that it stands for; nothing else is a row."""
    if isinstance(value, str):
        return {"text": value}
    return value if isinstance(value, dict) else None


def _row(value: object, pointer: str, key: str) -> Row | Unreadable:
    row = as_row(value)
    if row is not None:
        return Row(pointer, row, key)
    return Unreadable(pointer, f"is {_kind(value)}, not an object")


def _kind(value: object) -> str:
    names = {list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def text_of(value: object) -> str | None:
    """A text that says something, else None."""
    return value if isinstance(value, str) and value.strip() else None


def name_of(value: object) -> str | None:
    """A name as text: text or a whole number, at most 256 characters."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)[:257].strip() if isinstance(value, str) or value.bit_length() < 128 else ""
    return text if 0 < len(text) <= 256 else None


def picked(row: dict[str, Any], *names: str) -> dict[str, object]:
    """The named fields that the row fills in, for provenance."""
    return {name: row[name] for name in names if row.get(name) not in (None, "", [], {})}

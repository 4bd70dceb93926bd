"""What a source holds, told by its content; the name of a file is never looked at.

Only the beginning is read. Where nothing else fits it is taken as plain lines, which any text is.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from memory.importers import json_stream
from memory.importers.assistant_export import DATED
from memory.importers.instruction_file import HEADING
from memory.importers.json_stream import Element
from memory.importers.letta import BLOCKS, PASSAGES
from memory.importers.mapped_rows import DELIMITERS, delimiter_of
from memory.importers.mapping import USUAL_TEXT
from memory.importers.rows import WRAPPERS, as_row

_LOOKED_AT: Final = 50
"""Rows or lines that are looked at."""
_HEADER_CELL = re.compile(r"[^\W\d][\w .-]{0,40}")


@dataclass(frozen=True, slots=True)
class Detected:
    """`layout` is `lines` or `document` for JSON and `text` for the rest."""

    format: str
    layout: str


def detect(head: bytes, *, mapping: bool = False) -> Detected:
    """The format by the first bytes of a source. With a mapping rows of no known shape, and CSV, are its."""
    text = head.decode("utf-8", "replace")
    if text.lstrip()[:1] in ("{", "["):
        layout = _layout(text)
        rows = list(_sample(head, text, layout))
        if any(key or row for key, row in rows):
            return Detected("rows" if mapping else _shape(rows), layout)
    lines = [line for line in text.splitlines() if line.strip()][:_LOOKED_AT]
    return Detected(_text_format(lines, mapping), "text")


def layout_of(head: bytes) -> str:
    """How JSON is laid out, for a format that was named."""
    return _layout(head.decode("utf-8", "replace"))


def _layout(text: str) -> str:
    """One object a line, or one document. A lone object is a document only if it wraps rows."""
    start = text.lstrip()
    if not start.startswith("{"):
        return "document"
    first, newline, _ = start.partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        second = start.partition("\n")[2].lstrip(" \t\r")
        goes_on = first.rstrip().endswith(("{", "[", ",", ":"))
        return "lines" if newline and second.startswith("{") and not goes_on else "document"
    return "document" if isinstance(value, dict) and _wraps(value) else "lines"


def _wraps(value: Mapping[str, Any]) -> bool:
    wrapped = any(isinstance(value.get(name), list) for name in (*WRAPPERS, "agents", *BLOCKS, *PASSAGES))
    return wrapped and not {"prefix", "memory", "fact"} & value.keys()


def _sample(head: bytes, text: str, layout: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(array, row) of the first rows; what the head cuts off is left out."""
    if layout == "lines":
        for line in text.split("\n")[:_LOOKED_AT]:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield "", value
        return
    for count, part in enumerate(json_stream.elements(BytesIO(head))):
        if count >= _LOOKED_AT:
            return
        if isinstance(part, Element):
            row = as_row(part.value) if part.index is not None else None
            yield part.key, row or {}


def _shape(rows: list[tuple[str, Mapping[str, Any]]]) -> str:
    """The format whose signs the rows carry."""
    arrays = {key for key, _ in rows}
    if arrays & {"agents", "core_memory", "agent_type"}:
        return "letta"
    if {"entities", "relations"} & arrays:
        return "mcp_memory"
    for key, row in rows:
        if row and (not key or key in WRAPPERS):
            found = _shape_of_row(row)
            if found == "mem0_list" and arrays & {"count", "next"}:
                return "mem0_platform"
            if found != "rows":
                return found
    return "rows"


def _shape_of_row(row: Mapping[str, Any]) -> str:
    keys = row.keys()
    if {"type", "_type"} & keys and (row.get("type") or row.get("_type")) in ("entity", "relation"):
        return "mcp_memory"
    if "memory_id" in keys and {"new_memory", "old_memory"} & keys:
        return "mem0_history"
    if {"prefix", "namespace"} & keys and {"key", "value"} <= keys:
        return "langgraph"
    if "fact" in keys and {"source_node_uuid", "target_node_uuid"} & keys:
        return "graphiti_edges" if {"group_id", "reference_time"} & keys else "zep_edges"
    if "memory" in keys:
        return "mem0_list"
    if (
        "content" in keys
        and len({"scope", "categories", "importance", "last_accessed", "private"} & keys) >= 2
    ):
        return "crewai"
    return "rows"


def _text_format(lines: list[str], mapping: bool) -> str:
    dated = sum(1 for line in lines if DATED.match(line))
    if dated and 3 * dated >= len(lines):
        return "assistant_export"
    if _is_csv(lines, mapping):
        return "csv"
    if any(HEADING.match(line) for line in lines):
        return "instruction_file"
    return "plain_lines"


def _is_csv(lines: list[str], mapping: bool) -> bool:
    """A header of names, one of them called like a text unless a mapping says which, over rows as wide."""
    if not lines or not any(mark in lines[0] for mark in DELIMITERS):
        return False
    try:
        table = list(csv.reader(lines, delimiter=delimiter_of(lines[0])))
    except csv.Error:
        return False
    header = [cell.strip() for cell in table[0]] if table else []
    if len(header) < 2 or not all(_HEADER_CELL.fullmatch(cell) for cell in header):
        return False
    named = mapping or bool({cell.casefold() for cell in header} & set(USUAL_TEXT))
    wide = sum(1 for row in table[1:] if len(row) == len(header))
    return named and 2 * wide >= len(table) - 1

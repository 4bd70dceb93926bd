"""Rows of any shape, JSON lines or CSV, read with a mapping: the one given, or by the usual names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from memory.importers.mapping import BadMapping, mapped, usual_mapping
from memory.importers.records import Item, Unreadable
from memory.importers.rows import rows
from memory.importers.source import DAMAGED, Source

DELIMITERS = ",;\t|"


def read_json(source: Source, layout: str, *, mapping: Mapping[str, str] | None) -> Iterator[Item]:
    """A record for every object."""
    for row in rows(source, layout):
        if isinstance(row, Unreadable):
            yield row
            continue
        used = mapping or usual_mapping(list(row.value))
        if used is None:
            yield Unreadable(
                row.pointer, f"has no field that is called like a text ({', '.join(row.value)[:120]})"
            )
        else:
            yield mapped(row.value, used, row.pointer)


def read_csv(source: Source, layout: str, *, mapping: Mapping[str, str] | None) -> Iterator[Item]:
    """A record for every row below the header."""
    with source.open() as stream:
        text = io.TextIOWrapper(stream, "utf-8", errors="replace", newline="")
        first = text.readline(1024 * 1024)
        header = next(csv.reader([first], delimiter=delimiter_of(first)), [])
        used = mapping or usual_mapping(header)
        if used is None:
            raise BadMapping(
                f"no column is called like a text; the columns are {', '.join(header)[:200]}. "
                "Name them in a file and give it with --mapping"
            )
        yield from _rows(csv.reader(text, delimiter=delimiter_of(first)), header, used)


def _rows(reader: csv.Reader, header: list[str], mapping: Mapping[str, str]) -> Iterator[Item]:  # type: ignore[name-defined]
    while True:
        pointer = f"line {reader.line_num + 2}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Unreadable(pointer, f"is no valid CSV ({error})")
            continue
        except DAMAGED as error:
            yield Unreadable(pointer, f"the file is damaged from here on ({error})")
            return
        if len(cells) > len(header):
            yield Unreadable(pointer, f"has {len(cells)} fields, the header names {len(header)}")
        elif any(cell.strip() for cell in cells):
            yield mapped(dict(zip(header, cells, strict=False)), mapping, pointer)


def delimiter_of(line: str) -> str:
    """The mark that stands most often in the header."""
    return max(DELIMITERS, key=line.count)

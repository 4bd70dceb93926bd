"""Memories as Parquet, for those who look at them with a data frame.  pyarrow is an extra and only imported here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final

from memory.services.errors import Invalid

GROUP: Final = 10_000
"""Rows that are in memory at once."""


def parquet_needed() -> Any:
    """pyarrow.  Raises `Invalid` that says how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        said = "Parquet needs pyarrow: pip install 'memgov-server[parquet]'; nothing was exported"
        raise Invalid(said, code="extra_missing", field="format") from None
    return pyarrow


def parquet_write(file: IO[bytes], kinds: Sequence[tuple[str, str]], rows: Iterator[dict[str, Any]]) -> None:
    """Write the rows.  A column's kind is text, json, number, whole, flag, time or texts."""
    arrow = parquet_needed()
    types = {
        "text": arrow.string(),
        "json": arrow.string(),
        "number": arrow.float64(),
        "whole": arrow.int64(),
        "flag": arrow.bool_(),
        "time": arrow.timestamp("us", tz="UTC"),
        "texts": arrow.list_(arrow.string()),
    }
    schema = arrow.schema([(name, types[kind]) for name, kind in kinds])
    with arrow.parquet.ParquetWriter(file, schema, compression="zstd") as written:
        while group := list(islice(rows, GROUP)):
            columns = [
                arrow.array([_as(kind, row[name]) for row in group], type=types[kind]) for name, kind in kinds
            ]
            written.write_table(arrow.Table.from_arrays(columns, schema=schema))


def _as(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "time":
        return datetime.fromisoformat(value)
    if kind == "json":
        return json.dumps(value, ensure_ascii=False)
    return [str(one) for one in value] if kind == "texts" else value

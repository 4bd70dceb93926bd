"""Samples and real files that lie beside the project, not in it: each read with the counts that the docs give."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from memory.importers import ForeignRecord, Unreadable, open_store

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("MEMGOV_TEST_SAMPLES", ROOT.parent / "shared"))
FOLDERS = (
    SHARED / "cases" / "imports",
    SHARED / "data" / "mem0",
    SHARED / "data" / "letta",
    SHARED / "data" / "locomo",
)
_ROW = re.compile(
    r"^\| `(?P<name>[^`]+)` \| `(?P<format>\w+)` \| (?P<rows>\d+) \| (?P<broken>\d+) \|", re.MULTILINE
)
TABLE = {
    found["name"]: found for found in _ROW.finditer((ROOT / "docs" / "audit.md").read_text(encoding="utf-8"))
}


@pytest.mark.skipif(
    not all(folder.exists() for folder in FOLDERS),
    reason=f"no samples and data in {SHARED}; MEMGOV_TEST_SAMPLES names the folder",
)
def test_table_in_the_docs__every_file__read_with_these_counts() -> None:
    found = {}
    for path in (path for folder in FOLDERS for path in folder.iterdir()):
        (part,) = open_store(path).parts()
        counts = Counter(type(item) for item in part.items)
        found[path.name] = (part.format, counts[ForeignRecord], counts[Unreadable])
    assert found == {
        name: (row["format"], int(row["rows"]), int(row["broken"])) for name, row in TABLE.items()
    }
    assert len(TABLE) == 20

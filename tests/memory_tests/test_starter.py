"""The matrix that ships, against the product: every case passes, and there are enough of each layer."""

from __future__ import annotations

from collections import Counter

import pytest

from memory.management.commands.check_memory import STARTER
from memory.testing.document import LAYERS
from memory.testing.reading import Case, read_cases
from memory.testing.run import run_case

FILES = {path.stem: read_cases(path.read_bytes(), path.name) for path in sorted(STARTER.glob("*.yaml"))}
CASES = [case for file in FILES.values() for case in file.cases]


def test_files__are_whole() -> None:
    assert {name: file.problems for name, file in FILES.items()} == dict.fromkeys(FILES, ())
    counts = Counter(case.document.layer for case in CASES)
    assert set(counts) == set(LAYERS) and min(counts.values()) >= 15 and counts.total() >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case__passes(database: None, case: Case) -> None:
    result = run_case(case)
    said = "\n".join(f"{case.file}:{one.line} {one.message}" for one in result.failures)
    assert result.verdict == "passed", said

"""The matrix that ships, against the product: every case passes, and there are enough of each layer."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from memory.management.commands.check_memory import STARTER
from memory.testing.document import LAYERS
from memory.testing.reading import Case, read_cases
from memory.testing.run import run_case

FILES = {path.stem: read_cases(path.read_bytes(), path.name) for path in sorted(STARTER.glob("*.yaml"))}
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "memory-tests.md"
CASES = [case for file in FILES.values() for case in file.cases]


def test_files__are_whole() -> None:
    assert {name: file.problems for name, file in FILES.items()} == dict.fromkeys(FILES, ())
    counts = Counter(case.document.layer for case in CASES)
    assert set(counts) == set(LAYERS) and min(counts.values()) >= 15 and counts.total() >= 60


def test_document__example_and_counts__are_true(database: None) -> None:
    text = DOCUMENT.read_text()
    example = re.search(r"```yaml\n(version: 1.*?)```", text, re.DOTALL)
    assert example is not None
    file = read_cases(example[1].encode(), "memory-tests.md")
    assert not file.problems
    assert [result.failures for result in map(run_case, file.cases)] == [()]
    told = dict(re.findall(r"^\| (write|storage|mounting|consumption) \| (\d+) \|", text, re.MULTILINE))
    assert {layer: int(count) for layer, count in told.items()} == Counter(
        case.document.layer for case in CASES
    )
    assert f"{len(CASES)} cases" in text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case__passes(database: None, case: Case) -> None:
    result = run_case(case)
    said = "\n".join(f"{case.file}:{one.line} {one.message}" for one in result.failures)
    assert result.verdict == "passed", said

"""Files of cases: every fault at once, each with its line; and the schema that is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.testing.document import cases_schema
from memory.testing.reading import read_cases

ROOT = Path(__file__).resolve().parents[2]
HEAD = "version: 1\ncases:\n- name: one\n"
FACT = "{content: The press halls open at seven., scope: 'project:alpha', origin: tool_verified}"


def problems(text: str | bytes) -> list[tuple[int, str]]:
    """Line and code of each problem."""
    file = read_cases(text if isinstance(text, bytes) else text.encode(), "cases.yaml")
    assert not (file.problems and file.cases and not text), "unreachable"
    return [(one.line, one.code) for one in file.problems]


def test_schema__published__is_the_one_that_is_checked() -> None:
    assert json.loads((ROOT / "docs" / "check.schema.json").read_text()) == cases_schema()


def test_file__right__has_its_cases_with_lines() -> None:
    file = read_cases(f"{HEAD}  steps:\n  - write: {FACT}\n".encode(), "cases.yaml")
    assert not file.problems
    (case,) = file.cases
    assert (case.name, case.line, case.step_lines) == ("one", 3, (5,))
    assert list(case.agents) == ["agent"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, "unreadable")]),
        ("- 1", [(1, "unreadable")]),
        (b"\xff", [(1, "unreadable")]),
        ("a: [1", [(1, "unreadable")]),
        ("a: &x 1\nb: *x", [(2, "unreadable")]),
        ("a: !!python/object:os.system 1", [(1, "unreadable"), (1, "missing_field"), (1, "unknown_field")]),
        ("[" * 50, [(1, "unreadable")]),
        ("version: 2\ncases: []", [(1, "invalid"), (2, "invalid")]),
        ("version: 1", [(1, "missing_field")]),
        (HEAD, [(3, "missing_field")]),
        (HEAD + "  steps: []", [(4, "invalid")]),
        (HEAD + "  steps:\n  - {}", [(5, "invalid")]),
        (HEAD + f"  steps:\n  - write: {FACT}\n    check: {FACT}", [(5, "invalid")]),
        (HEAD + f"  steps:\n  - wriet: {FACT}", [(5, "unknown_field")]),
        (HEAD + f"  steps:\n  - write: {FACT}\n    expect: {{outcome: sotred}}", [(6, "invalid")]),
        (HEAD + f"  steps:\n  - write: {FACT}\n    agent: nobody", [(5, "unknown_name")]),
        (HEAD + "  steps:\n  - get: fact", [(5, "unknown_name")]),
        (HEAD + "  steps:\n  - retrieve: {query: x}\n    expect: {includes: [fact]}", [(5, "unknown_name")]),
        (HEAD + "  steps:\n  - sweep: everything", [(5, "unknown_name")]),
        (HEAD + "  steps:\n  - advance: soon", [(5, "unknown_name")]),
        (HEAD + "  steps:\n  - advance: 1d\n  expect:\n    metrics: {beauty: 1}", [(7, "invalid")]),
        (HEAD + "  steps:\n  - advance: 1d\n  expect:\n    stored:\n    - {memory: x}", [(8, "unknown_name")]),
        (HEAD + "  steps:\n  - advance: 1d\n  policy: {decay: {floor: 7}}", [(6, "invalid")]),
        (HEAD + "  steps:\n  - advance: 1d\n  preset: odd", [(6, "invalid")]),
        (HEAD + "  steps:\n  - advance: 1d\n  agents:\n    a: {grants: [odd]}", [(7, "invalid")]),
        (HEAD + "  steps:\n  - advance: 1d\n- name: one\n  steps:\n  - advance: 1d", [(6, "duplicate")]),
        (HEAD + "  name: again\n  steps:\n  - advance: 1d", [(4, "duplicate_key")]),
    ],
)  # fmt: skip
def test_file__wrong__every_fault_with_its_line(text: str | bytes, found: list[tuple[int, str]]) -> None:
    assert sorted(problems(text)) == sorted(found)


def test_file__several_faults__all_are_told() -> None:
    text = HEAD + "  steps:\n  - get: a\n  - get: b\n  - sweep: c\n"
    assert [line for line, _ in problems(text)] == [5, 6, 7]

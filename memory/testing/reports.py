"""Telling what became of cases: lines for a terminal, JUnit XML, annotations for GitHub."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as Xml

from memory.testing.reading import CaseFile
from memory.testing.run import Result, Verdict

_MARKS: Final[dict[Verdict, str]] = {"passed": "ok", "failed": "FAIL", "error": "ERROR", "skipped": "skip"}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def line_of(result: Result) -> str:
    """One case, and below it each difference with its line."""
    case = result.case
    head = f"{_MARKS[result.verdict]:<5} {case.file}:{case.line} {case.name} ({result.seconds:.2f} s)"
    reason = f": {result.reason}" if result.reason else ""
    return "\n".join(
        [head + reason, *(f"      {case.file}:{one.line} {one.message}" for one in result.failures)]
    )


def summary(results: Sequence[Result], seconds: float) -> str:
    """The last line."""
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[verdict]} {verdict}" for verdict in _MARKS if counts[verdict]]
    return f"{', '.join(parts) or 'no cases'} in {seconds:.1f} s"


def junit(results: Sequence[Result], path: Path) -> None:
    """Write JUnit XML: a suite for each file, a test case for each case."""
    root = Xml.Element("testsuites")
    for file, group in groupby(results, key=lambda result: result.case.file):
        found = list(group)
        counts = Counter(result.verdict for result in found)
        suite = Xml.SubElement(
            root, "testsuite", name=file, tests=str(len(found)), failures=str(counts["failed"]),
            errors=str(counts["error"]), skipped=str(counts["skipped"]),
            time=f"{sum(result.seconds for result in found):.3f}",
        )  # fmt: skip
        for result in found:
            _junit_case(suite, result)
    path.write_bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True))


def _junit_case(suite: Xml.Element, result: Result) -> None:
    case = result.case
    name = case.document.layer or "cases"
    one = Xml.SubElement(
        suite, "testcase", name=_clean(case.name), classname=_clean(name), file=case.file, line=str(case.line),
        time=f"{result.seconds:.3f}",
    )  # fmt: skip
    if result.verdict == "skipped":
        Xml.SubElement(one, "skipped", message=_clean(result.reason))
    elif result.failures:
        kind = "failure" if result.verdict == "failed" else "error"
        text = "\n".join(f"{case.file}:{failure.line} {failure.message}" for failure in result.failures)
        Xml.SubElement(one, kind, message=_clean(result.failures[0].message)).text = _clean(text)


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def for_github(results: Sequence[Result]) -> list[str]:
    """GitHub's workflow commands, one for each difference."""
    return [
        _annotation(result.case.file, failure.line, result.case.name, failure.message)
        for result in results
        for failure in result.failures
    ]


def file_for_github(file: CaseFile) -> list[str]:
    """The same for what is wrong with a file."""
    return [_annotation(file.name, one.line, one.code, one.message) for one in file.problems]


def _annotation(file: str, line: int, title: str, message: str) -> str:
    """Escaped as GitHub reads it: a text cannot begin a command of its own."""
    properties = f"file={_property(file)},line={line},title={_property(title)}"
    return f"::error {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

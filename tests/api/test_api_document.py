"""The examples of docs/api.md, run in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from string import Template
from typing import Any

from tests.api.caller import Caller
from tests.factories import Stage

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "api.md"
_EXAMPLE = re.compile(r"```sh\n(.*?)```\n(→ [\d, ]+)?", re.DOTALL)


def examples() -> list[tuple[list[str], list[int]]]:
    """The curl calls of each block, and the statuses that the document gives them."""
    found = []
    for block, arrow in _EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8")):
        calls = re.split(r"\n(?=curl )", block.strip())
        if calls[0].startswith("curl"):
            found.append((calls, [int(status) for status in re.findall(r"\d{3}", arrow)]))
    return found


def run(caller: Caller, command: str, known: dict[str, str]) -> Any:
    """What curl would do with these arguments.  No example has a `$` in single quotes."""
    words = shlex.split(Template(command.replace("\\\n", " ")).safe_substitute(known))[1:]
    method, body, address, headers = "", None, "", {}
    while words:
        match words.pop(0):
            case "-s":
                pass
            case "-X":
                method = words.pop(0)
            case "-d":
                body = words.pop(0)
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name.replace("-", "_")] = value
            case word:
                address = word
    return caller.call(method or ("POST" if body else "GET"), address, body, **headers)


def test_examples_of_the_document__in_their_order__answer_as_it_says(stage: Stage) -> None:
    known = {"API": "/api/v1", "KEY": stage.coder.key_text}
    caller, calls = Caller(None), 0
    for commands, statuses in examples():
        assert len(commands) == len(statuses), commands
        for command, status in zip(commands, statuses, strict=True):
            response = run(caller, command, known)
            assert response.status_code == status, (command, response.content)
            _learn(known, response.json())
            calls += 1
    assert calls > 15


def _learn(known: dict[str, str], answer: dict[str, Any]) -> None:
    """Ids for the examples that follow: the first memory, and the latest of the others."""
    if (answer.get("memory") or {}) and isinstance(answer["memory"], dict):
        known.setdefault("MEMORY", answer["memory"]["id"])
    if "manifest" in answer:
        known.setdefault("MANIFEST", answer["manifest"])
    if str(answer.get("id", "")).startswith("prm_"):
        known["PROMOTION"] = answer["id"]
    if str(answer.get("id", "")).startswith("job_"):
        known["JOB"] = answer["id"]

"""`memgov mcp --stdio` as a process: only the protocol on standard output, and clear words when it cannot start."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from tests.factories import Stage
from tests.mcp.talking import ROOT, message

INITIALIZE = message(
    "initialize",
    {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
)


def run(key: str | None, lines: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with these lines on its standard input."""
    environment = {name: value for name, value in os.environ.items() if name != "MEMGOV_KEY"}
    if key is not None:
        environment["MEMGOV_KEY"] = key
    return subprocess.run(
        [sys.executable, "-m", "memgov.cli", "mcp", *arguments],
        cwd=ROOT, env=environment, input=lines, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_output__is_the_protocol_and_nothing_else(stage: Stage) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {**message("tools/call", {"name": "get_memories", "arguments": {}}), "id": 2}
    lines = "".join(json.dumps(one) + "\n" for one in (INITIALIZE, ready, call)) + "this is no JSON\n"
    done = run(stage.coder.key_text, lines, "--stdio")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0]["result"]["serverInfo"]["name"] == "memgov"
    assert "search_memories" in answers[0]["result"]["instructions"]
    assert stage.coder.key_text not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("key", "arguments", "said"),
    [
        (None, ["--stdio"], "MEMGOV_KEY"),
        ("mgk_wrong", ["--stdio"], "key_unknown"),
        ("mgk_wrong", [], "--stdio"),
        ("mgk_wrong", ["--stdio", "--scope", "shared"], "--profile graph"),
        ("mgk_wrong", ["--stdio", "--profile", "graph", "--scope", "nowhere"], "invalid_scope"),
        ("mgk_wrong", ["--stdio", "--profile", "graph", "--origin", "hearsay"], "invalid_origin"),
    ],
)
def test_start__impossible__says_why(
    database: None, monkeypatch: pytest.MonkeyPatch, key: str | None, arguments: list[str], said: str
) -> None:
    monkeypatch.delenv("MEMGOV_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("MEMGOV_KEY", key)
    with pytest.raises(CommandError, match=said):
        call_command("mcp", *arguments)


def test_start__impossible__on_standard_error_with_code_1(database: None) -> None:
    done = run("mgk_wrong", "", "--stdio")
    assert done.returncode == 1
    assert done.stdout == "" and "key_unknown" in done.stderr and "Traceback" not in done.stderr

"""What docs/mcp.md shows works as it is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from memory.mcp.profiles import PROFILES
from tests import loops
from tests.factories import Stage
from tests.mcp.talking import McpProcess

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text()


def test_python__runs_as_it_stands(stage: Stage, mcp_process: McpProcess) -> None:
    code = re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(compile(code[1].replace("http://127.0.0.1:8001/mcp", mcp_process.url), "mcp.md", "exec"), names)
    assert "manifest man_" in loops.run(names["ask"](stage.coder.key_text))


def test_tools__are_all_told() -> None:
    for profile in PROFILES.values():
        for tool in profile.shown:
            assert f"`{tool.name}`" in DOCUMENT


def test_hints__are_those_of_the_tools() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| `.*?` ?.*?\| (.*?) ?\|$", DOCUMENT, re.MULTILINE))
    for tool in PROFILES[""].shown:
        hints = tool.annotations
        assert hints is not None
        if hints.read_only_hint:
            words = "read only"
        else:
            parts = [("destructive", hints.destructive_hint), ("idempotent", hints.idempotent_hint)]
            words = ", ".join(word for word, holds in parts if holds)
        assert told[tool.name] == words, tool.name

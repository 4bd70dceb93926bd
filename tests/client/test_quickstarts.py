"""What the quick-starts and the skill show is run as it stands, each in a fresh tenant."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from memory.api.urls import urlpatterns
from memory.domain.types import Origin
from tests.browser import Web
from tests.factories import Stage

ROOT = Path(__file__).resolve().parents[2]
RULE = "Refunds above 50 euros need a second approval."
SKILL = ROOT / "skills" / "memgov" / "SKILL.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block and the heading that it stands under."""

    heading: str
    language: str
    text: str


def blocks(path: Path) -> list[Block]:
    """Every fenced block of a file."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        headings = re.findall(r"^#+ (.+)$", text[: match.start()], re.MULTILINE)
        found.append(Block(headings[-1], match[1], match[2]))
    return found


QUICKSTARTS = blocks(ROOT / "docs" / "quickstarts.md")
PROGRAMS = [
    block for block in QUICKSTARTS if block.language in ("python", "sh") and "mgk_…" not in block.text
]


def environment(web: Web, stage: Stage, **more: str) -> dict[str, str]:
    """What a user would have set."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(ROOT / "client" / "src"),
        "MEMGOV_URL": web.url,
        "MEMGOV_KEY": stage.coder.key_text,
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
        **more,
    }


def command(block: Block) -> list[str]:
    """How the block is run: by a shell, by this Python, or by the one that has the framework."""
    if block.language == "sh":
        return ["bash", "-euc", block.text]
    named = re.match(r"# environment: (\w+)\n", block.text)
    python = str(ROOT / "client" / ".venvs" / named[1] / "bin" / "python") if named else sys.executable
    return [python, "-c", block.text]


@pytest.fixture(scope="module")
def environments() -> None:
    """The frameworks, installed now if need be."""
    subprocess.run(["sh", "scripts/client_environments.sh"], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("block", PROGRAMS, ids=[block.heading for block in PROGRAMS])
def test_quickstart__as_it_stands__gives_the_rule_back(
    block: Block, web: Web, stage: Stage, environments: None
) -> None:
    done = subprocess.run(
        command(block), env=environment(web, stage), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.rpartition('"manifest"')[2] if block.language == "sh" else done.stdout
    assert RULE in told, done.stdout


def test_quickstarts__there_is_one_for_each_way_in() -> None:
    assert [block.heading for block in PROGRAMS] == [
        "Plain HTTP", "Python", "Claude's memory tool", "LangGraph", "Google ADK", "CrewAI",
    ]  # fmt: skip
    assert {block.heading for block in QUICKSTARTS} >= {"Claude Code", "Codex"}


def test_configurations__can_be_read_and_point_to_the_mcp_address() -> None:
    (claude,) = [json.loads(block.text) for block in QUICKSTARTS if block.language == "json"]
    (codex,) = [tomllib.loads(block.text) for block in QUICKSTARTS if block.language == "toml"]
    exported = dict(re.findall(r"^export (\w+)=(\S+)$", QUICKSTARTS[0].text, re.M))
    web, mcp = urlsplit(exported["MEMGOV_URL"]), urlsplit(exported["MEMGOV_MCP"])
    assert (mcp.port, mcp.path) == ((web.port or 0) + 1, "/mcp"), (
        "as `memgov up` serves it; the web process has no MCP"
    )
    assert claude["mcpServers"]["memgov"]["url"] == "${MEMGOV_MCP}"
    assert codex["mcp_servers"]["memgov"]["url"] == exported["MEMGOV_MCP"]
    (added,) = [block.text for block in QUICKSTARTS if block.text.startswith("claude mcp add")]
    assert "memgov $MEMGOV_MCP --header" in added
    assert codex["mcp_servers"]["memgov"]["bearer_token_env_var"] == "MEMGOV_KEY"


def test_skill__has_a_head_that_agents_can_load() -> None:
    head, body = SKILL.read_text(encoding="utf-8").removeprefix("---\n").split("\n---\n", 1)
    said = yaml.safe_load(head)
    assert set(said) == {"name", "description"} and said["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9-]{1,64}", said["name"]) and len(said["description"]) <= 1024
    assert len(body.splitlines()) < 500


def test_skill__names_origins_and_calls_that_exist() -> None:
    text = SKILL.read_text(encoding="utf-8")
    named = set(
        re.findall(r"^\| `(\w+)` \| ", text.split("## Say where it comes from")[1].split("##")[0], re.M)
    )
    assert named == {str(origin) for origin in Origin} - {"system_defined"}
    known = {re.sub(r"<str:\w+>", "*", str(pattern.pattern)) for pattern in urlpatterns}
    calls = {re.sub(r"\{\w+\}", "*", path) for path in re.findall(r"`(?:POST|PUT|GET) ([^`]+)`", text)}
    assert calls and calls <= known, calls - known


def test_skill__its_commands_run(web: Web, stage: Stage) -> None:
    retrieve, usage, write = (block.text for block in blocks(SKILL) if block.language == "sh")
    script = (
        f'MEMORY=$({write.strip()} | python3 -c \'import json, sys; print(json.load(sys.stdin)["memory"]["id"])\')\n'
        f"MANIFEST=$({retrieve.strip()} | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"manifest\"])')\n"
        f"{usage.replace('curl -s', 'curl -sf')}"
    )
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], env=environment(web, stage), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["used"] == 1, done.stdout

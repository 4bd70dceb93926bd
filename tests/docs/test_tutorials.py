"""The tutorials are lived: their files are written, their commands run in their order, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memory.models import PolicyVersion
from tests.browser import Web
from tests.factories import Stage, make_tenant

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```(?:\n\n→ `([^`]*)`)?", re.MULTILINE | re.DOTALL)


def live(name: str, folder: Path, tenant: str = "demo", **environment: str) -> list[str]:
    """Write the files of a tutorial (their first line says where) and run its shell blocks; what each printed."""
    printed, known = [], ""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    text = (
        (TUTORIALS / f"{name}.md").read_text(encoding="utf-8").replace("--tenant demo", f"--tenant {tenant}")
    )
    for language, block, promised in _BLOCK.findall(text):
        if language == "yaml" and (named := re.match(r"# (\S+\.ya?ml)\n", block)):
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(block, encoding="utf-8")
        if language != "sh":
            continue
        known += "".join(re.findall(r"^\w+\(\) .*\n", block, re.MULTILINE))
        commands = block if "() {" in block else known + block
        done = subprocess.run(
            ["bash", "-euc", commands], cwd=folder, env={**os.environ, "PATH": path, **environment},
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, (block, done.stdout, done.stderr)
        assert not promised or done.stdout.strip() == promised, block
        printed.append(done.stdout)
    return printed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout, as far as a reader of tutorials looks."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def test_audit_my_store(folder: Path) -> None:
    first, *_ = live("audit-my-store", folder)
    assert "not measurable" in first and "Near duplicates" in first
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "<script" not in page


def test_under_my_agent(folder: Path, web: Web, stage: Stage) -> None:
    me, stored, refused, read = live(
        "under-my-agent", folder, MEMGOV_URL=web.url, MEMGOV_KEY=stage.coder.key_text
    )
    assert stage.coder.agent.name in me and '"stored"' in stored and '"rejected"' in refused
    assert "second approval" in read and '"man_' in read


def test_write_a_policy(folder: Path, stage: Stage) -> None:
    shown, tried, activated, back = live("write-a-policy", folder, stage.tenant.slug)
    assert "layered" in shown and "0.25" in tried
    assert "policy version 2 is active" in activated and "policy version 3 is active" in back
    with stage.context():
        assert PolicyVersion.objects.count() == 3


def test_memory_tests_in_ci(folder: Path, database: None) -> None:
    (told,) = live("memory-tests-in-ci", folder)
    assert "2 passed" in told and (folder / "memory.xml").exists()


def test_tutorials__all_of_them__are_lived_or_only_looked_at() -> None:
    """Review day has no commands: its pages are tested in tests/pages."""
    lived = {name.removeprefix("test_").replace("_", "-") for name in globals() if name.startswith("test_")}
    with_commands = {
        path.stem for path in TUTORIALS.glob("*.md") if "```sh" in path.read_text(encoding="utf-8")
    }
    assert with_commands <= lived and len(with_commands) == 4

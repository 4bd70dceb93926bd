"""The pytest plugin in a project of its own: files are collected, and tests in Python get worlds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = """
version: 1
cases:
- name: halls open
  steps:
  - write: {content: The press halls open at seven., scope: 'project:alpha', origin: tool_verified}
    expect: {outcome: OUTCOME}
"""
IN_PYTHON = """
def test_halls(memory_world):
    world = memory_world({"coder": {"role": "coder", "grants": ["project:alpha=rw"]}})
    fact = {"content": "The press halls open at seven.", "scope": "project:alpha", "origin": "tool_verified"}
    world.do(write=fact, session="s1", name="fact", expect={"outcome": "stored"})
    world.do(advance="40d")
    read = world.do(retrieve={"query": "When do the press halls open?"}, expect={"bands": {"fact": "aging"}})
    assert read.manifest["entries"][0]["content"] == fact["content"]

def test_refused(memory_world):
    world = memory_world()
    try:
        world.do(write={"content": "ok", "origin": "user_explicit"}, expect={"outcome": "stored"})
    except AssertionError as error:
        assert "outcome is rejected, expected stored" in str(error)
    else:
        raise RuntimeError("it did not fail")
"""


@pytest.mark.parametrize(("outcome", "code"), [("stored", 0), ("held", 1)])
def test_plugin__in_another_project(database: None, tmp_path: Path, outcome: str, code: int) -> None:
    (tmp_path / "halls.memory.yaml").write_text(CASES.replace("OUTCOME", outcome))
    (tmp_path / "test_halls.py").write_text(IN_PYTHON)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "memory.testing.pytest_plugin", "-q", str(tmp_path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert (
        "3 passed" if code == 0 else "halls.memory.yaml:6 outcome is stored, expected held"
    ) in done.stdout


def test_plugin__broken_file__an_error_that_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "halls.memory.yaml").write_text(CASES.replace("write:", "wriet:"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "memory.testing.pytest_plugin", "-q", str(tmp_path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2 and "halls.memory.yaml:6" in done.stdout, done.stdout

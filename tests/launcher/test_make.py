"""What `make` offers, and where it looks for the browser of its tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import chromium

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where programs are looked for, without one in it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    monkeypatch.delenv("MEMGOV_CHROMIUM", raising=False)
    return tmp_path


def program(path: Path) -> str:
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
def test_chromium__any_name_it_goes_by__is_found(folder: Path, name: str) -> None:
    mine = program(folder / name)
    assert chromium.chromium_path() == mine


def test_chromium__named_by_the_variable__goes_before_the_systems(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(folder / "chromium")
    mine = program(folder / "mine")
    monkeypatch.setenv("MEMGOV_CHROMIUM", mine)
    assert chromium.chromium_path() == mine
    monkeypatch.setenv("MEMGOV_CHROMIUM", str(folder / "gone"))
    with pytest.raises(LookupError, match=r"MEMGOV_CHROMIUM names .*gone"):
        chromium.chromium_path()


def test_chromium__none_there__the_program_says_so(folder: Path) -> None:
    looked = subprocess.run(
        [sys.executable, "scripts/chromium.py"], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert looked.returncode == 1 and "make chromium" in looked.stderr and not looked.stdout


def test_help__asked__names_every_target_with_what_it_does() -> None:
    quiet = ["make", "--no-print-directory", "help"]  # the tests may be run by make themselves
    shown = subprocess.run(quiet, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = re.findall(r"^([a-z-]+):.*## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(told) >= 9 and [line.split(maxsplit=1) for line in shown.splitlines()] == [
        list(one) for one in told
    ]


def test_down__with_arguments__hands_them_on() -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "down", "ARGS=--data-dir elsewhere"], cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert "memgov.cli down --data-dir elsewhere" in shown.stdout

"""The progress bar: for a person at a terminal, and for nobody else; the report stays apart from it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest


def test_audit__at_a_terminal__a_bar_beside_the_report(tmp_path: Path) -> None:
    store = tmp_path / "store.txt"
    store.write_text("".join(f"- Customer {n} pays within {n % 60 + 1} days\n" for n in range(3_000)))
    command = [sys.executable, "-m", "memgov.cli", "audit", str(store), "--json"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with ThreadPoolExecutor(1) as reader:  # a terminal that nobody reads fills up and stops who writes to it
        watched = reader.submit(_all_of, ours)
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True, timeout=240
            )
        finally:
            os.close(theirs)
        shown = watched.result()
    report = json.loads(done.stdout)
    assert report["rows"] == 3_000
    assert "reading" in shown and "━" in shown


@pytest.mark.parametrize("kind", ["--json", "--limit=1"])
def test_audit__in_a_pipe__no_bar(tmp_path: Path, kind: str) -> None:
    (tmp_path / "store.txt").write_text("- Customer 1 pays within 9 days\n")
    command = [sys.executable, "-m", "memgov.cli", "audit", str(tmp_path / "store.txt"), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout


def _all_of(end: int) -> str:
    """What was written to the other end of a terminal that is closed."""
    shown = b""
    while True:
        try:
            part = os.read(end, 65_536)
        except OSError:  # Linux says so instead of giving an empty part
            part = b""
        if not part:
            os.close(end)
            return shown.decode("utf-8", "replace")
        shown += part

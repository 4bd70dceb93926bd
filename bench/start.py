"""How long the product takes to start, first and again, and the memory that its processes hold.

It is started by its own command in a folder of its own, as a person would; the bare service is started beside it.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.machine import PROC, family, proportional_mb
from bench.stage import without_settings
from memgov.embedded import children

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 300


def run(again: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Seconds to ready of the first start and (median) of later ones, and MB by process.  Raises `RuntimeError`."""
    folder = Path(tempfile.mkdtemp(prefix="memgov-bench-start-"))
    folder.chmod(0o711)  # the account of the servers has to pass
    try:
        tell("first start")
        first, memory = _start(folder / "data")
        later = []
        for _ in range(again):
            tell("start again")
            later.append(_start(folder / "data")[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "first_seconds": round(first, 1),
        "again_seconds": round(statistics.median(later), 1) if later else None,
        "memory_mb": memory,
        "memory_mb_total": round(sum(memory.values()), 1),
    }


def _start(data: Path) -> tuple[float, dict[str, float]]:
    """Start, look, stop."""
    began = time.perf_counter()
    _memgov(data, "up", "--detach", "--no-demo", "--port", str(_two_free_ports()))
    seconds = time.perf_counter() - began
    try:
        report = json.loads(_memgov(data, "status", "--json"))
        memory = {
            name: round(sum(proportional_mb(pid) for pid in family(process["pid"])), 1)
            for name, process in report["processes"].items()
        }
    finally:
        _memgov(data, "down")
    return seconds, memory if PROC.exists() else {}


def _memgov(data: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "memgov.cli", *arguments, "--data-dir", str(data)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=without_settings(os.environ),
        timeout=MOST_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(f"memgov {arguments[0]} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def _two_free_ports() -> int:
    while True:
        port = children.free_port()
        if port < 65_000 and children.free_port(port + 1) == port + 1:
            return port

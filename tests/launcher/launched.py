"""The product started by its own command, as a person would, for the tests of the launcher."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MakeFolder = Callable[[], Path]
SET_UP_BY_THE_SUITE = {"DATABASE_URL", "MIGRATION_DATABASE_URL", "REDIS_URL"}


def clean_environment() -> dict[str, str]:
    """A shell's environment without what the test suite has set for itself."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMGOV_", "PYTEST_")) and name not in SET_UP_BY_THE_SUITE
    }


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for something that another process does; fails with `what` when it does not happen."""
    end, tick = monotonic() + seconds, threading.Event()
    while not condition():
        assert monotonic() < end, f"after {seconds:.0f} s still not: {what}"
        tick.wait(0.1)


def free_ports() -> int:
    """A port whose neighbours are free too: MCP takes the next one, and a test tries the one before.

    Below those that the kernel hands out, so that no connection made meanwhile takes one of them.
    """
    while True:
        port = random.randrange(10_000, 32_000, 4)
        with ExitStack() as held:
            try:
                for one in (port - 1, port, port + 1):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", one))
            except OSError:
                continue
            return port


@dataclass
class Launched:
    """One data directory and the commands given about it."""

    data_dir: Path
    port: int = field(default_factory=free_ports)
    extra: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "memgov.cli", "--data-dir", str(self.data_dir), *arguments]

    def environment(self) -> dict[str, str]:
        return {**clean_environment(), **self.extra}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One `memgov` command to its end."""
        return subprocess.run(
            self.command(*arguments),
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def up_detached(self) -> str:
        """Start without the demo; what it printed."""
        done = self.run("up", "--detach", "--no-demo", "--port", str(self.port))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def up_here(self) -> subprocess.Popen[str]:
        """Start as in a terminal and return once it says that it is ready."""
        process = subprocess.Popen(
            self.command("up", "--no-demo", "--port", str(self.port)),
            cwd=ROOT,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if "Ctrl-C" in line:
                return process
        raise AssertionError(f"it ended with {process.wait()} before it was ready")

    def status(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.run("status", "--json").stdout)
        return report

    def runtime(self) -> dict[str, Any]:
        note: dict[str, Any] = json.loads((self.data_dir / "runtime.json").read_text())
        return note

    def family(self) -> set[int]:
        """The supervisor and everything that stems from it, workers of workers included."""
        listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
        parents = {int(pid): int(parent) for pid, parent in map(str.split, listed.stdout.splitlines())}
        members = {self.runtime()["supervisor_pid"]}
        while more := {pid for pid, parent in parents.items() if parent in members} - members:
            members |= more
        return members


def seconds_to_ready(printed: str) -> float:
    """The time that the banner names."""
    found = re.search(r"ready after ([0-9.]+) s", printed)
    assert found, printed
    return float(found.group(1))


def running(pids: set[int]) -> set[int]:
    """Those of the processes that have not ended (a zombie has)."""
    listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, text=True, check=True)
    alive = {int(pid) for pid, state in map(str.split, listed.stdout.splitlines()) if state[0] != "Z"}
    return pids & alive


def kill(pid: int) -> None:
    """kill -9"""
    os.kill(pid, signal.SIGKILL)

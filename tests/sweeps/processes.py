"""Real Celery processes for tests: started with the environment of the run, watched by what they print."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60


class CeleryProcess:
    """A worker or beat in a process group of its own."""

    def __init__(self, *arguments: str) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "memgov", *arguments, "--loglevel", "INFO"],
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def until(self, pattern: str) -> re.Match[str]:
        """Read on until a line matches."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"nothing said {pattern!r}:\n{''.join(self.seen[-40:])}") from None
            self.seen.append(line)
            if found := re.search(pattern, line):
                return found

    def send(self, number: signal.Signals) -> None:
        """A signal to it and all of its children."""
        os.killpg(self._process.pid, number)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it and all of its children, at once."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)
        self._process.wait(PATIENCE)


@contextmanager
def worker(children: int = 1) -> Iterator[CeleryProcess]:
    """A worker, ready to take as many tasks at a time as it has children."""
    process = CeleryProcess(
        "worker", "-c", str(children), "--without-gossip", "--without-mingle", "-O", "fair"
    )
    try:
        process.until(r" ready\.")
        yield process
    finally:
        process.kill()

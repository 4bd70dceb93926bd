"""One of the product's own processes under supervision: start, restart after a growing pause, stop."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from memgov.embedded import children

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY_AFTER = 60.0  # seconds up after which an earlier crash no longer counts


@dataclass(frozen=True)
class Ending:
    """How a process ends: what stops it, for how long it may finish, and what it gets when we are killed."""

    stop: signal.Signals = signal.SIGTERM
    grace: float = 20.0
    orphaned: signal.Signals = signal.SIGTERM


ENDINGS = {
    # A graceful end makes no sense once the database under it is going away too: gunicorn's quick one.
    "web": Ending(orphaned=signal.SIGQUIT),
    "mcp": Ending(orphaned=signal.SIGKILL, grace=10.0),
    # Killed, not stopped: a worker without its broker would wait for it.  Its pool ends with it, and
    # what it had not acknowledged is queued again at the next start.
    "worker": Ending(orphaned=signal.SIGKILL),
    "beat": Ending(grace=10.0),
}


class Service:
    """A process that is kept running until it is stopped."""

    def __init__(
        self, name: str, command: list[str], environment: Mapping[str, str], log: Path, port: int
    ) -> None:
        self.name, self.log, self.port = name, log, port
        self.restarts = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._command, self._environment = command, environment
        self._ending = ENDINGS[name]
        self._crashes = 0
        self._started = self._due = 0.0

    def start(self) -> None:
        """Start it now."""
        self._started, self._due = monotonic(), 0.0
        self.process = children.spawn(
            self._command, log=self.log, death_signal=self._ending.orphaned, environment=self._environment
        )

    def revive(self) -> str | None:
        """Call often: notices an end, starts again when the pause is over; a line to show, or None."""
        if self.process is None or self.process.poll() is None:
            return None
        if not self._due:
            return self._plan_restart(self.process)
        if monotonic() < self._due:
            return None
        self.restarts += 1
        self.start()
        return f"{self.name} started again"

    @property
    def crashes(self) -> int:
        """Ends in a row without a steady run between them."""
        return self._crashes

    def request_stop(self) -> None:
        """Ask it to end; `finish_stop` waits."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(self._ending.stop)

    def finish_stop(self) -> None:
        """Wait for the end that was asked for, then kill what is left of it and of its children."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=self._ending.grace)
        children.end_group(self.process)
        self.process.wait()

    def _plan_restart(self, process: subprocess.Popen[bytes]) -> str:
        children.end_group(process)
        up = monotonic() - self._started
        self._crashes = 1 if up > STEADY_AFTER else self._crashes + 1
        pause = min(FIRST_PAUSE * 2 ** (self._crashes - 1), LONGEST_PAUSE)
        self._due = monotonic() + pause
        return (
            f"{self.name} ended (code {process.returncode}) after {up:.0f} s; starting again in {pause:.1f} s"
        )

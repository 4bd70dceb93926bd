"""The demo tenants, loaded once after the first start: a demo that fails or is missing stops nothing."""

from __future__ import annotations

import signal
import subprocess
import sys

from memgov.embedded import children
from memgov.processes.plan import Plan


class DemoLoad:
    """`demo load` as a process of its own; nothing at all when it was done before."""

    def __init__(self, plan: Plan) -> None:
        self._log = plan.logs / "demo.log"
        self._done = plan.data_dir / "demo-loaded"
        self._process: subprocess.Popen[bytes] | None = None
        if not self._done.exists():
            self._process = children.spawn(
                [sys.executable, "-m", "django", "demo", "load"],
                log=self._log,
                death_signal=signal.SIGKILL,
                environment=plan.environment(),
            )

    def is_running(self) -> bool:
        """Whether it is still loading."""
        return self._process is not None and self._process.poll() is None

    def news(self) -> str | None:
        """Once, when it has ended: what became of it."""
        if self._process is None or self._process.poll() is None:
            return None
        code, self._process = self._process.returncode, None
        if code != 0:
            return f"the demo could not be loaded: {children.last_line(self._log)} (see {self._log})"
        self._done.touch(mode=0o600)
        return "the demo is loaded"

    def stop(self) -> None:
        """End a load that still runs; the next start begins it again."""
        if self._process is not None:
            children.end_group(self._process)
            self._process.wait()

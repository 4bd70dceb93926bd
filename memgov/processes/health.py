"""The health check of one process, for containers: `python -m memgov.processes.health ROLE`, exit 0 or 1."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from time import time

from memgov.processes import readiness

WEB_PORT, MCP_PORT = 8000, 8001
BEAT_SILENCE = 600.0  # beat writes its clock every three minutes


def is_healthy(role: str) -> bool:
    """Ask the process in the way it can answer."""
    match role:
        case "web":
            return readiness.ask(f"http://127.0.0.1:{WEB_PORT}").ready
        case "mcp":
            return readiness.ask(f"http://127.0.0.1:{MCP_PORT}", path="/livez").ready
        case "worker":
            return _worker_answers()
        case "beat":
            return _beat_ticks(Path(os.environ.get("MEMGOV_DATA_DIR", "/data")))
    raise SystemExit(f"no process is called {role!r}")


def _worker_answers() -> bool:
    """The worker on this host and no other answers over the broker."""
    destination = ["--destination", f"celery@{socket.gethostname()}", "--timeout", "10"]
    command = [sys.executable, "-m", "celery", "-A", "memgov", "inspect", "ping", *destination]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _beat_ticks(data_dir: Path) -> bool:
    clocks = [path.stat().st_mtime for path in data_dir.glob("beat-schedule*")]
    return bool(clocks) and time() - max(clocks) < BEAT_SILENCE


if __name__ == "__main__":
    sys.exit(0 if is_healthy(sys.argv[1]) else 1)

"""`memgov run web|worker|beat|mcp`: become that one process, for containers and service managers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from memgov.processes.commands import command


def run(role: str, host: str, port: int, data_dir: Path) -> int:
    """Replace this process; returns only when the program cannot be executed (by raising)."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:  # the web process has workers, /metrics adds them up
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="memgov-metrics-")
    arguments = command(role, host=host, port=port, data_dir=data_dir)
    os.execv(arguments[0], arguments)

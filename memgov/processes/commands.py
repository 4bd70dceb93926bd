"""The command lines of the product's four processes, the same in `memgov up` and in a container.

Only strings are made here; starting and watching them is `memgov.supervisor`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

WEB_WORKERS, WEB_THREADS = 2, 8
WORKER_CONCURRENCY = 2
ROLES = ("web", "worker", "mcp", "beat")


def command(role: str, *, host: str, port: int, data_dir: Path) -> list[str]:
    """The arguments that run one process: web and mcp listen on host:port, beat's clock is in data_dir."""
    return [sys.executable, "-m", *_arguments(role, host=host, port=port, data_dir=data_dir)]


def _arguments(role: str, *, host: str, port: int, data_dir: Path) -> list[str]:
    match role:
        case "web":
            return _web(f"{host}:{port}")
        case "mcp":
            served = ["--host", host, "--port", str(port), "--timeout-graceful-shutdown", "5"]
            # What X-Forwarded-For says is read by the product, as far as MEMGOV_TRUSTED_PROXIES reaches.
            return ["uvicorn", "memgov.mcp_asgi:app", *served, "--no-access-log", "--no-proxy-headers"]
        case "worker":
            lean = ["--without-gossip", "--without-mingle"]
            return [
                "celery",
                "-A",
                "memgov",
                "worker",
                "--loglevel",
                "INFO",
                *lean,
                "-c",
                str(WORKER_CONCURRENCY),
            ]
        case "beat":
            clock = ["--schedule", str(data_dir / "beat-schedule"), "--pidfile", ""]
            return ["celery", "--quiet", "-A", "memgov", "beat", "--loglevel", "INFO", *clock]
    raise ValueError(f"no process is called {role!r}; there are {', '.join(ROLES)}")


def _web(bind: str) -> list[str]:
    """Threads, because requests wait on the database; loaded once and forked, so that start is quick."""
    workers = os.environ.get("WEB_CONCURRENCY", str(WEB_WORKERS))
    ours = ["--worker-class", "memgov.web_worker.Worker", "--preload"]
    shape = [*ours, "--workers", workers, "--threads", str(WEB_THREADS)]
    patience = ["--timeout", "60", "--graceful-timeout", "15", "--keep-alive", "15"]
    quiet = ["--no-control-socket", "--max-requests", "20000", "--max-requests-jitter", "2000"]
    # What is longer is refused by the worker in our own shapes; the limits are stated there.
    limits = [
        "--limit-request-line",
        "8190",
        "--limit-request-fields",
        "100",
        "--limit-request-field_size",
        "8190",
    ]
    heartbeat = ["--worker-tmp-dir", "/dev/shm"] if os.access("/dev/shm", os.W_OK) else []
    return ["gunicorn", "memgov.wsgi", "--bind", bind, *shape, *limits, *patience, *quiet, *heartbeat]

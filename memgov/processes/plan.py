"""What one `memgov up` is going to run: ports, data directory, whose servers, which environment."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from memgov.embedded.datadir import usual_data_dir
from memgov.embedded.errors import StartError

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
HIGHEST_PORT = 65_534  # MCP takes the next one
SOMETHING_CHANGED = 10  # exit code of `memgov.processes.prepare`


def setting(name: str) -> str:
    """A setting from the environment, or from the file that NAME_FILE names."""
    return os.environ.get(name) or os.environ.get(f"{name}_FILE", "")


def program(data_dir: Path) -> str:
    """How to call `memgov` from this terminal so that it finds this data."""
    beside_python = Path(sys.executable).with_name("memgov")
    found = shutil.which("memgov")
    if found and Path(found).samefile(beside_python):
        called = "memgov"
    else:
        called = (
            os.path.relpath(beside_python) if beside_python.exists() else f"{sys.executable} -m memgov.cli"
        )
    return called if data_dir == usual_data_dir() else f"{called} --data-dir {data_dir}"


def servers_are_given() -> bool:
    """Whether DATABASE_URL and REDIS_URL name servers of the operator; one without the other is refused."""
    database, redis = bool(setting("DATABASE_URL")), bool(setting("REDIS_URL"))
    if database != redis:
        missing = "REDIS_URL" if database else "DATABASE_URL"
        raise StartError(
            f"setting {missing}: give both DATABASE_URL and REDIS_URL, or neither for our own servers"
        )
    return database


@dataclass(frozen=True)
class Plan:
    """The choices of one start."""

    data_dir: Path
    port: int = 8000
    demo: bool = True

    @property
    def web_url(self) -> str:
        """Where a browser goes."""
        return f"http://{HOST}:{self.port}"

    @property
    def mcp_port(self) -> int:
        """MCP listens beside the web process."""
        return self.port + 1

    @property
    def mcp_url(self) -> str:
        """Where an agent's host goes."""
        return f"http://{HOST}:{self.mcp_port}/mcp"

    @property
    def logs(self) -> Path:
        """The folder of all log files."""
        return self.data_dir / "logs"

    @property
    def metrics(self) -> Path:
        """Where the processes leave their figures for /metrics to add up; emptied at every start."""
        return self.data_dir / "metrics"

    @property
    def demo_file(self) -> Path:
        """Where `demo load` leaves the sign-ins and the agent key."""
        return self.data_dir / "demo.json"

    def version(self) -> str:
        """Changes whenever a start may have something to migrate: our migrations and everyone else's."""
        names = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("*/migrations/*.py"))
        lock = ROOT / "requirements" / "base.txt"
        return hashlib.sha256("\n".join(names).encode() + lock.read_bytes()).hexdigest()

    def environment(self) -> dict[str, str]:
        """What the processes get: our environment, the place of the data, and where they are reached."""
        defaults = {
            "MEMGOV_PUBLIC_URL": self.web_url,
            "MEMGOV_MCP_URL": self.mcp_url,
            "DJANGO_SETTINGS_MODULE": "memgov.settings",
            "MEMGOV_DEMO_SANDBOXES": "20" if self.demo and not setting("DATABASE_URL") else "0",
            "PYTHONUNBUFFERED": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(self.metrics),
            "OMP_NUM_THREADS": "1",  # one thread per process; numpy would start one per core in each
        }
        return {**defaults, **os.environ, "MEMGOV_DATA_DIR": str(self.data_dir)}

    def refuse_busy_ports(self) -> None:
        """Say which port is taken before anything is started."""
        if not 1 <= self.port <= HIGHEST_PORT:
            raise StartError(f"--port must be between 1 and {HIGHEST_PORT}, not {self.port}")
        for port, user in ((self.port, "the web pages"), (self.mcp_port, "MCP, which takes the next one")):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((HOST, port))
                except OSError as error:
                    raise StartError(
                        f"port {port} (for {user}) is not free: {error.strerror}; choose another with --port"
                    ) from None

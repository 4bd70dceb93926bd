"""One PostgreSQL server in a data directory: make the cluster, start, stop, say its URLs."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from memgov.embedded import children
from memgov.embedded.binaries import postgres_programs
from memgov.embedded.datadir import private_folder
from memgov.embedded.errors import StartError
from memgov.embedded.service_user import ServiceUser

SUPERUSER = "memgov_admin"
MAJOR_VERSION = "18"
START_SECONDS = 120.0  # a crash recovery with much to replay takes its time

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "max_locks_per_transaction": "256",  # partitions and test databases: many tables at once
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] %u ",
    "shared_buffers": "128MB",
    "jit": "off",
}
# For tests only: a power cut may lose everything.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


class Postgres:
    """A PostgreSQL server of our own."""

    def __init__(
        self, data_dir: Path, user: ServiceUser | None, password: str, *, fast: bool = False
    ) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.restarts = 0
        self.log = data_dir / "logs" / "postgres.log"
        self._password = password
        self._fast = fast
        self._settings = {**SETTINGS, **(FAST if fast else {})}
        self._user = user
        self._data_dir = data_dir
        self._cluster = data_dir / "pgdata"
        self._programs = postgres_programs(data_dir, user)

    def url(self, database: str, role: str = SUPERUSER, password: str | None = None) -> str:
        """The connection URL of a role (the superuser unless named)."""
        return f"postgresql://{role}:{password or self._password}@127.0.0.1:{self.port}/{database}"

    def start(self, preferred_port: int = 0) -> None:
        """Make the cluster if there is none, end an orphan of a killed start, and wait until it answers."""
        private_folder(self._cluster, self._user)
        self._end_orphan()
        if not (self._cluster / "PG_VERSION").exists():
            self._make_cluster()
        made_by = (self._cluster / "PG_VERSION").read_text(encoding="utf-8").strip()
        if made_by != MAJOR_VERSION:
            raise StartError(
                f"the data in {self._cluster} was made by PostgreSQL {made_by}, this is {MAJOR_VERSION}: "
                "export with the memgov that made it and import here"
            )
        self.port = children.free_port(preferred_port)
        if not self._launch():
            self.port = children.free_port()  # another program may have taken that port just now
            children.launch_patiently(self._launch, "PostgreSQL", self.log)

    def restart(self) -> None:
        """Start again where its clients look for it."""
        self.restarts += 1
        self._end_backends()
        children.launch_patiently(self._launch, "PostgreSQL", self.log)

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, everything committed is on disk."""
        if self.process:
            children.end(self.process, signal.SIGINT, seconds=60)
            self.process = None

    def _launch(self) -> bool:
        settings = {**self._settings, "port": str(self.port)}
        command = [str(self._programs / "postgres"), "-D", str(self._cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.process = children.spawn(command, log=self.log, death_signal=signal.SIGINT, **self._as_user())
        return children.wait_until(self._is_ready, self.process, START_SECONDS)

    def _is_ready(self) -> bool:
        """The server writes its state into the last line of postmaster.pid (what pg_ctl waits for too)."""
        lines = self._pid_file()
        ours = bool(lines) and self.process is not None and lines[0].strip() == str(self.process.pid)
        return ours and len(lines) >= 8 and lines[7].strip() == "ready"

    def _pid_file(self) -> list[str]:
        try:
            return (self._cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def _end_orphan(self) -> None:
        lines = self._pid_file()
        if lines and lines[0].strip().isdigit():
            children.end_orphan(int(lines[0]), str(self._cluster), signal.SIGINT, seconds=60)
        self._end_backends()

    def _end_backends(self) -> None:
        """A killed server's backends finish their queries first, and hold the memory a new one needs."""
        for pid in children.working_in(self._cluster.resolve()):
            children.end_orphan(pid, "postgres", signal.SIGTERM, seconds=3)

    def _make_cluster(self) -> None:
        """`initdb` beside its final place, so that a start killed half-way leaves no half-made cluster."""
        shutil.rmtree(self._data_dir / "pgdata.new", ignore_errors=True)
        scratch = private_folder(self._data_dir / "pgdata.new", self._user)
        password_file = private_folder(self._data_dir / "run", self._user) / "initial-password"
        password_file.write_text(self._password, encoding="utf-8")
        password_file.chmod(0o644)  # inside a folder only the server's account may enter
        command = [str(self._programs / "initdb"), "-D", str(scratch), "-U", SUPERUSER]
        command += ["--auth=scram-sha-256", f"--pwfile={password_file}", "--encoding=UTF8"]
        command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command += ["--no-instructions", *(["--no-sync"] if self._fast else [])]
        made = subprocess.run(command, capture_output=True, text=True, check=False, **self._as_user())
        password_file.unlink()
        if made.returncode != 0:
            reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise StartError(f"PostgreSQL's data could not be made in {self._data_dir}: {reason}")
        self._cluster.rmdir()
        scratch.rename(self._cluster)

    def _as_user(self) -> dict[str, Any]:
        return {"cwd": "/", **(self._user.popen_arguments() if self._user else {})}

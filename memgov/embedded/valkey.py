"""One Valkey server in a data directory: broker, cache and throttle."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

from memgov.embedded import children
from memgov.embedded.binaries import valkey_program
from memgov.embedded.datadir import private_folder
from memgov.embedded.service_user import ServiceUser

START_SECONDS = 60.0


class Valkey:
    """A Valkey server of our own; its configuration, password included, goes in by standard input."""

    def __init__(
        self, data_dir: Path, user: ServiceUser | None, password: str, *, fast: bool = False
    ) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.restarts = 0
        self.log = data_dir / "logs" / "valkey.log"
        self._password = password
        self._fast = fast
        self._user = user
        self._folder = data_dir / "valkey"
        self._program = valkey_program(data_dir, user)

    def url(self, database: int = 0) -> str:
        """The connection URL of one numbered database (0 to 63)."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self, preferred_port: int = 0) -> None:
        """End an orphan of a killed start, start, and wait until the data is loaded."""
        private_folder(self._folder, self._user)
        self._end_orphan()
        self.port = children.free_port(preferred_port)
        if not self._launch():
            self.port = children.free_port()  # another program may have taken that port just now
            children.launch_patiently(self._launch, "Valkey", self.log)

    def restart(self) -> None:
        """Start again where its clients look for it."""
        self.restarts += 1
        children.launch_patiently(self._launch, "Valkey", self.log)

    def stop(self) -> None:
        """Clean end: what it holds is written out first."""
        if self.process:
            children.end(self.process, signal.SIGTERM, seconds=20)
            self.process = None

    def _launch(self) -> bool:
        account = self._user.popen_arguments() if self._user else {}
        self.process = children.spawn(
            [str(self._program), "-"],
            log=self.log,
            death_signal=signal.SIGTERM,
            text_input=self._configuration(),
            cwd="/",
            **account,
        )
        return children.wait_until(self._is_ready, self.process, START_SECONDS)

    def _configuration(self) -> str:
        lines = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "requirepass": self._password,
            "dir": f'"{self._folder}"',
            "pidfile": f'"{self._folder / "valkey.pid"}"',
            "daemonize": "no",
            "databases": "64",
            "maxmemory-policy": "noeviction",
            "appendonly": "no" if self._fast else "yes",
            "appendfsync": "everysec",
            "save": '""',
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2 and (part := connection.recv(256)):
                    answer += part
        except OSError:
            return False
        return answer.endswith(b"+PONG\r\n")

    def _end_orphan(self) -> None:
        pid_file = self._folder / "valkey.pid"
        if pid_file.exists() and (text := pid_file.read_text(encoding="utf-8").strip()).isdigit():
            children.end_orphan(int(text), "valkey-server", signal.SIGTERM, seconds=20)

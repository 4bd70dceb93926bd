"""PostgreSQL and Valkey together in one data directory: the only thing callers need.

    with EmbeddedServers(data_dir) as servers:
        servers.app_url         # role memgov_app: what DATABASE_URL would be
        servers.owner_url       # role memgov_owner: MIGRATION_DATABASE_URL
        servers.superuser_url   # bootstrap and tests only, never the product
        servers.redis_url
        servers.url("app", "other_database")

Tests: `with EmbeddedServers.temporary() as servers:` is the same in a folder that goes away, without
fsync, and with an owner that may create (clone) databases.  Start it in the main thread: on Linux the
servers end with the thread that started them, so a killed test run leaves nothing behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from memgov.embedded import datadir, runtime
from memgov.embedded.binaries import refuse_windows
from memgov.embedded.bootstrap import DATABASE, ensure_database
from memgov.embedded.datadir import DirectoryLock
from memgov.embedded.postgres import Postgres
from memgov.embedded.service_user import service_user
from memgov.embedded.valkey import Valkey

TEMPORARY_PREFIX = "memgov-temporary-"


class EmbeddedServers:
    """The two servers of one data directory, held by this process.

    `fast` trades durability for speed, `createdb` lets memgov_owner create databases; both for tests.
    `purpose` is what a second start in the same directory is told.  Raises `StartError` (one line,
    for a person) when they cannot be started.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | None = None,
        *,
        fast: bool = False,
        createdb: bool = False,
        purpose: str = "embedded servers",
    ) -> None:
        self.data_dir = Path(data_dir).absolute() if data_dir else datadir.default_data_dir()
        self._fast, self._createdb, self._purpose = fast, createdb, purpose
        self._disposable = False
        self._lock: DirectoryLock | None = None

    @classmethod
    def temporary(cls, *, durable: bool = False, purpose: str = "a test run") -> EmbeddedServers:
        """Servers in a folder of their own, removed at the end (and leftovers of killed runs now).

        Fast, unless `durable` asks for what production does at each commit, as a measurement must.
        """
        remove_leftovers(Path(tempfile.gettempdir()))
        servers = cls(
            tempfile.mkdtemp(prefix=TEMPORARY_PREFIX), fast=not durable, createdb=not durable, purpose=purpose
        )
        servers._disposable = True
        return servers

    def start(self, lock: DirectoryLock | None = None) -> EmbeddedServers:
        """Start both, make the database and its roles, and leave the note for other processes.

        `lock` is given by a caller that holds the directory already (and will release it itself).
        """
        refuse_windows()
        user = service_user(self.data_dir)
        datadir.prepare(self.data_dir, user)
        if lock is None:
            self._lock = DirectoryLock(self.data_dir)
            self._lock.acquire(self._purpose)
        try:
            (self.data_dir / "logs").mkdir(mode=0o700, exist_ok=True)
            self._passwords = datadir.passwords(self.data_dir)
            self.postgres = Postgres(self.data_dir, user, self._passwords["superuser"], fast=self._fast)
            self.valkey = Valkey(self.data_dir, user, self._passwords["valkey"], fast=self._fast)
            self._launch()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Valkey, then PostgreSQL; what was committed stays.  Safe to call twice."""
        for server in (getattr(self, "valkey", None), getattr(self, "postgres", None)):
            if server:
                server.stop()
        if self._disposable:
            shutil.rmtree(self.data_dir, ignore_errors=True)
        elif self.data_dir.exists():
            (self.data_dir / runtime.FILE_NAME).unlink(missing_ok=True)
        if self._lock:
            self._lock.release()

    def restart_ended(self) -> list[str]:
        """Start again, on the same ports, whichever server has ended; their names."""
        ended = {
            name: server
            for name, server in self._servers().items()
            if server.process and server.process.poll() is not None
        }
        for server in ended.values():
            server.restart()
        return list(ended)

    def url(self, role: str, database: str = DATABASE) -> str:
        """The URL of role 'superuser', 'owner' or 'app' for any database of this server."""
        if role == "superuser":
            return self.postgres.url(database)
        return self.postgres.url(database, f"memgov_{role}", self._passwords[role])

    @property
    def app_url(self) -> str:
        """Role memgov_app on the database memgov."""
        return self.url("app")

    @property
    def owner_url(self) -> str:
        """Role memgov_owner on the database memgov."""
        return self.url("owner")

    @property
    def superuser_url(self) -> str:
        """The superuser on the database memgov."""
        return self.url("superuser")

    @property
    def redis_url(self) -> str:
        """Database 0 of Valkey."""
        return self.valkey.url()

    def runtime(self) -> runtime.Runtime:
        """The note about these servers, for `runtime.json`."""
        return {
            "supervisor_pid": os.getpid(),
            "app_url": self.app_url,
            "owner_url": self.owner_url,
            "redis_url": self.redis_url,
            "processes": {
                name: {"pid": server.process.pid, "port": server.port, "restarts": server.restarts}
                for name, server in self._servers().items()
                if server.process
            },
        }

    def _servers(self) -> dict[str, Postgres | Valkey]:
        return {"postgres": self.postgres, "valkey": self.valkey}

    def _launch(self) -> None:
        before = (runtime.last(self.data_dir) or {}).get("processes", {})
        for name, server in self._servers().items():
            server.start(preferred_port=before[name]["port"] if name in before else 0)
        ensure_database(
            self.url("superuser", "postgres"),
            self.superuser_url,
            owner=self._passwords["owner"],
            app=self._passwords["app"],
            createdb=self._createdb,
        )
        runtime.write(self.data_dir, self.runtime())

    def __enter__(self) -> EmbeddedServers:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def remove_leftovers(folder: Path) -> None:
    """Remove temporary data directories whose holder was killed."""
    for left in folder.glob(f"{TEMPORARY_PREFIX}*"):
        ours = hasattr(os, "getuid") and left.stat().st_uid == os.getuid()
        if ours and (left / "lock").exists() and not datadir.is_held(left):
            shutil.rmtree(left, ignore_errors=True)

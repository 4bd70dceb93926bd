"""Restoring a backup beside the database that it replaces, which stays untouched until the last step.

The dump goes into `NAME_restoring`.  When everything about it is right, two renames in one transaction put it in the
place of `NAME`, which becomes `NAME_replaced` and is dropped.  A restore that is killed is simply run again: before the
renames it begins anew, after them a comment on the database says what is left to do.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memgov.backups.archive import DUMP, Progress, Reading
from memgov.backups.errors import BackupError
from memgov.backups.making import connected, count_tenants, last_line
from memgov.backups.programs import database_argument, program
from memgov.embedded.bootstrap import ensure_roles

_LOCK: Final = 7_346_002
_LEAVE_SECONDS: Final = 3.0
_COMMENT = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a backup is restored to: a superuser's URL of the database, and passwords of the two roles."""

    admin_url: str
    owner_password: str
    app_password: str

    @property
    def name(self) -> str:
        """The database."""
        return str(conninfo_to_dict(self.admin_url)["dbname"])

    @property
    def staging(self) -> str:
        """The database that is filled."""
        return f"{self.name}_restoring"

    def url(self, database: str) -> str:
        """The superuser's on another database of this server."""
        return make_conninfo(self.admin_url, dbname=database)


class Restore:
    """One restore, holding the only lock there is for them on this server."""

    def __init__(self, place: Place, file: Reading, admin: psycopg.Connection[Any]) -> None:
        self._place, self._file, self._admin = place, file, admin
        self._mark = f"memgov: restored from a backup with seal {file.manifest.seal}, to be finished"

    def is_in_place(self) -> bool:
        """Whether an earlier run of this very restore was killed after the renames."""
        row = self._admin.execute(_COMMENT, [self._place.name]).fetchone()
        return row is not None and row[0] == self._mark

    def tenants_there(self) -> int:
        """How many tenants the database has that would be replaced."""
        with connected(self._place.admin_url) as there:
            return count_tenants(there)

    def refuse_users(self) -> None:
        """A product that runs would lose what it writes meanwhile."""
        end = monotonic() + _LEAVE_SECONDS
        while (users := self._users()) and monotonic() < end:
            sleep(0.1)  # our own connection of just now may still be on its way out
        if users:
            raise BackupError(
                f"the database {self._place.name} is in use ({users}): stop web, mcp, worker and beat first"
            )

    def _users(self) -> int:
        row = self._admin.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'",
            [self._place.name],
        ).fetchone()
        return int(row[0]) if row else 0

    def fill(self, progress: Progress) -> None:
        """The dump into a new database, with roles and rights as a new installation has them."""
        if self._place.owner_password and self._place.app_password:
            self._roles(self._place.name)  # a dump names them and does not make them
        self._drop(self._place.staging)
        self._drop(f"{self._place.name}_replaced")
        self._admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 OWNER memgov_owner").format(
                sql.Identifier(self._place.staging)
            )
        )
        self._load(progress)
        self._roles(self._place.staging)

    def put_in_place(self) -> None:
        """The renames.  Raises `BackupError` while somebody is connected to either."""
        name, staging = sql.Identifier(self._place.name), sql.Identifier(self._place.staging)
        self._admin.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(staging, sql.Literal(self._mark)))
        replaced = sql.Identifier(f"{self._place.name}_replaced")
        try:
            with self._admin.transaction():
                self._admin.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(name, replaced))
                self._admin.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(staging, name))
        except psycopg.errors.ObjectInUse:
            self.refuse_users()
            raise BackupError("the database was in use at the last moment; run it again") from None

    def finish(self) -> None:
        """Drop what was replaced; after this the same command would be a new restore."""
        self._drop(f"{self._place.name}_replaced")
        name = sql.Identifier(self._place.name)
        self._admin.execute(sql.SQL("COMMENT ON DATABASE {} IS NULL").format(name))

    def _roles(self, database: str) -> None:
        owner, app = self._place.owner_password, self._place.app_password
        if owner and app:
            ensure_roles(self._place.url(database), owner=owner, app=app)
            return
        with self._plain(database) as connection:  # passwords are the operator's affair; rights are not
            for statement in (
                "REVOKE ALL ON DATABASE {} FROM PUBLIC",
                "GRANT CONNECT ON DATABASE {} TO memgov_app",
            ):
                connection.execute(sql.SQL(statement).format(sql.Identifier(database)))

    def _plain(self, database: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self._place.url(database), autocommit=True)

    def _drop(self, database: str) -> None:
        self._admin.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database))
        )

    def _load(self, progress: Progress) -> None:
        major = self._admin.info.server_version // 10_000
        if major < self._file.manifest.postgres:
            raise BackupError(
                f"the backup is of PostgreSQL {self._file.manifest.postgres}, this server is {major}: use a newer one"
            )
        target, environment = database_argument(self._place.url(self._place.staging))
        command = [program("pg_restore", major), "--exit-on-error", "--no-password", f"--dbname={target}"]
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment
            )
            try:
                self._feed(process, progress)
                if process.wait():
                    raise BackupError(f"pg_restore failed: {last_line(said)}")
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    def _feed(self, process: subprocess.Popen[bytes], progress: Progress) -> None:
        """All of the dump; a program that ends before says why itself."""
        assert process.stdin is not None
        total, done = self._file.manifest.members[DUMP].bytes, 0
        try:
            for chunk in self._file.chunks(DUMP):
                process.stdin.write(chunk)
                done += len(chunk)
                progress(done, total)
            process.stdin.close()
        except BrokenPipeError:
            process.wait()


@contextmanager
def restoring(place: Place, file: Reading) -> Iterator[Restore]:
    """A restore on this server, the only one at a time.  Raises `BackupError`."""
    with connected(place.url("postgres")) as admin:
        if not (admin.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone() or [False])[0]:
            raise BackupError("another restore runs on this server")
        try:
            yield Restore(place, file, admin)
        except psycopg.Error as error:
            raise BackupError(f"PostgreSQL refused: {str(error).strip().splitlines()[0]}") from None


def refuse_newer(file: Reading, known: Callable[[str, str], bool]) -> None:
    """A backup of a newer memgov has tables that this one does not know."""
    manifest = file.manifest
    unknown = [
        f"{app} {name}"
        for app, names in manifest.migrations.items()
        for name in names
        if not known(app, name)
    ]
    if unknown:
        raise BackupError(
            f"{file.path} was made by a newer memgov ({manifest.version}): this one does not know the migration "
            f"{unknown[0]}; restore it with that version"
        )

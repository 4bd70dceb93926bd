"""Making a backup beside a running product: one snapshot of the database, and the checkpoints known before it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import psycopg

from memgov.backups.archive import CHECKPOINTS, CHUNK, DUMP, Progress, Writing
from memgov.backups.errors import BackupError, of_file
from memgov.backups.manifest import Manifest
from memgov.backups.programs import database_argument, program

# A session's key lets in whoever has it: people sign in again after a restore.
WITHOUT_ROWS: Final = ("public.django_session", "public.usersessions_usersession")
_BEGUN = re.compile(r'dumping contents of table "([^"]+)"')
_RIGHTS = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_SIZES = """
    SELECT n.nspname || '.' || c.relname, pg_table_size(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname IN ('public', 'memgov')
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a backup is made of: a superuser's URL of the database, the file of checkpoints, the key, and when."""

    admin_url: str
    checkpoint_file: Path
    secret: str
    version: str
    made_at: str


def make(wanted: Wanted, target: Path, progress: Progress) -> Manifest:
    """Write the backup; what is in it.  Raises `BackupError`, and leaves no file then."""
    # Before the snapshot: a checkpoint must not know of an event that the dump has not.
    checkpoints = read_if_there(wanted.checkpoint_file)
    with connected(wanted.admin_url) as connection, Writing(target) as file:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        about = _about(connection, wanted)
        sizes = dict(connection.execute(_SIZES).fetchall())
        snapshot = connection.execute("SELECT pg_export_snapshot()").fetchone()
        file.add(CHECKPOINTS, iter([checkpoints]))
        file.add(DUMP, _dump(wanted.admin_url, about.postgres, str((snapshot or [""])[0]), sizes, progress))
        return file.finish(about, wanted.secret)


def read_if_there(path: Path) -> bytes:
    """The file's bytes; none where there is no file.  Raises `BackupError`."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise of_file(error, path) from None


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose statements are their own transactions.  Raises `BackupError` where there is none, or where
    its role would be shown, and would silently keep, only a part of the rows."""
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.Error as error:
        raise BackupError(f"the database does not let us in: {str(error).strip().splitlines()[-1]}") from None
    with connection:
        row = connection.execute(_RIGHTS).fetchone()
        if not row or not row[0]:
            raise BackupError(
                f"the role {connection.info.user} sees no rows past row-level security: give the URL of a superuser "
                "of this database in MEMGOV_ADMIN_DATABASE_URL"
            )
        yield connection


def applied_migrations(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """The names by app; empty where the database is none of memgov."""
    there = connection.execute("SELECT to_regclass('public.django_migrations') IS NOT NULL").fetchone()
    if not there or not there[0]:
        return {}
    found: dict[str, list[str]] = {}
    for app, name in connection.execute("SELECT app, name FROM public.django_migrations ORDER BY app, name"):
        found.setdefault(app, []).append(name)
    return found


def count_tenants(connection: psycopg.Connection[Any]) -> int:
    """How many; 0 where there is no such table yet."""
    there = connection.execute("SELECT to_regclass('public.tenants_tenant') IS NOT NULL").fetchone()
    if not there or not there[0]:
        return 0
    row = connection.execute("SELECT count(*) FROM public.tenants_tenant").fetchone()
    return int(row[0]) if row else 0


def _about(connection: psycopg.Connection[Any], wanted: Wanted) -> Manifest:
    migrations = applied_migrations(connection)
    if "memory" not in migrations:
        raise BackupError(
            f"the database {connection.info.dbname} holds no memgov: there is nothing to back up"
        )
    major = connection.info.server_version // 10_000
    return Manifest(wanted.made_at, wanted.version, major, count_tenants(connection), migrations)


def _dump(url: str, major: int, snapshot: str, sizes: dict[str, int], progress: Progress) -> Iterator[bytes]:
    """What pg_dump writes, as it comes."""
    database, environment = database_argument(url)
    left_out = [f"--exclude-table-data={table}" for table in WITHOUT_ROWS]
    command = [program("pg_dump", major), "--format=custom", "--verbose", "--no-password", *left_out]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*command, f"--snapshot={snapshot}", f"--dbname={database}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, env=environment,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            while chunk := process.stdout.read(CHUNK):
                progress(*_how_far(said, sizes))
                yield chunk
            if process.wait():
                raise BackupError(f"pg_dump failed: {last_line(said)}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _how_far(said: IO[str], sizes: dict[str, int]) -> tuple[int, int]:
    """Bytes of the tables that pg_dump has begun, and of all of them."""
    begun = set(_BEGUN.findall(_text(said)))
    return sum(size for table, size in sizes.items() if table in begun), sum(sizes.values())


def last_line(said: IO[str]) -> str:
    """What a program said at its end, without its own name."""
    errors = [line for line in _text(said).splitlines() if "error:" in line] or _text(said).splitlines()[-1:]
    return errors[0].split("error:", 1)[-1].strip() if errors else "it said nothing"


def _text(said: IO[str]) -> str:
    # Without a seek: the program shares the position, and would go on writing there.
    size = os.fstat(said.fileno()).st_size
    return os.pread(said.fileno(), size, 0).decode(errors="replace")

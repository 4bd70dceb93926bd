"""The data directory: where it is, who may enter it, who holds it, and the passwords kept in it.

Only standard library and no server knowledge, because the settings read it in every process.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
from pathlib import Path
from typing import IO

from memgov.embedded.errors import AlreadyRunning, StartError
from memgov.embedded.service_user import ServiceUser

try:
    import fcntl
except ImportError:  # Windows: `binaries` refuses it with a message before a lock is ever taken
    fcntl = None  # type: ignore[assignment]

SECRET_NAMES = ("superuser", "owner", "app", "valkey")


def default_data_dir() -> Path:
    """MEMGOV_DATA_DIR, else the usual place."""
    named = os.environ.get("MEMGOV_DATA_DIR")
    return Path(named).expanduser().absolute() if named else usual_data_dir()


def usual_data_dir() -> Path:
    """/var/lib/memgov for root, else the user's data folder (XDG)."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/memgov")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "memgov"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "memgov"


def prepare(data_dir: Path, user: ServiceUser | None) -> None:
    """Make the directory private to us (and passable for the service user, when there is one)."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if user:
            os.chown(data_dir, -1, user.gid)
        data_dir.chmod(0o710 if user else 0o700)
    except OSError as error:
        raise StartError(
            f"the data directory {data_dir} cannot be used: {error.strerror}; name another with --data-dir"
        ) from None
    if user and not user.can_enter(data_dir):
        raise StartError(
            f"the data directory {data_dir} lies below a folder closed to the service user {user.name!r} "
            "(PostgreSQL refuses to run as root); use /var/lib/memgov or another place with --data-dir"
        )


def private_folder(path: Path, user: ServiceUser | None) -> Path:
    """A folder only its server may read."""
    path.mkdir(exist_ok=True)
    path.chmod(0o700)
    if user:
        os.chown(path, user.uid, user.gid)
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file of ours (0600) so that a reader sees the old or the new text, never half of one."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


class DirectoryLock:
    """One living memgov process per data directory; the kernel frees it however the holder ends."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "lock"
        self._file: IO[str] | None = None

    def acquire(self, purpose: str) -> None:
        """Take the lock, or raise `AlreadyRunning` naming the holder's process and `purpose`."""
        file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115  (held for the process's life)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise AlreadyRunning(f"memgov is already running ({holder or 'starting'})") from None
        self._path.chmod(0o600)
        file.truncate(0)
        file.write(f"pid {os.getpid()}, {purpose}")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give the directory back."""
        if self._file:
            self._file.close()
            self._file = None


def is_held(data_dir: Path) -> bool:
    """Whether a living process holds the directory (asked without taking it for longer than a moment)."""
    try:
        with open(data_dir / "lock", "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def passwords(data_dir: Path) -> dict[str, str]:
    """The servers' passwords, made once: superuser, owner, app, valkey."""
    path = data_dir / "passwords.json"
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if missing := [name for name in SECRET_NAMES if name not in known]:
        known |= {name: secrets.token_hex(24) for name in missing}
        write_private(path, json.dumps(known))
    return known


def secret_key(data_dir: str | os.PathLike[str]) -> str:
    """The product's secret key, made once and kept beside the data it protects."""
    path = Path(data_dir) / "secret_key"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = path.with_name(f"{path.name}.{os.getpid()}")
        write_private(made, secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):  # another process was first: its key is the key
            os.link(made, path)
        made.unlink()
    return path.read_text(encoding="utf-8").strip()

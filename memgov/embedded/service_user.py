"""The unprivileged account the servers run as when root starts them (PostgreSQL refuses to be root)."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import pwd
except ImportError:  # Windows: nobody is root there and nothing below is reached
    pwd = None  # type: ignore[assignment]

ACCOUNT = "memgov-pg"


@dataclass(frozen=True)
class ServiceUser:
    """An account to drop to."""

    name: str
    uid: int
    gid: int

    def popen_arguments(self) -> dict[str, Any]:
        """What `subprocess` needs to start a program as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Whether every folder down to this one lets the account pass (by mode bits)."""
        resolved = folder.resolve()
        return all(self._may_pass(part.stat()) for part in (resolved, *resolved.parents))

    def _may_pass(self, info: os.stat_result) -> bool:
        if info.st_uid == self.uid:
            return bool(info.st_mode & stat.S_IXUSR)
        if info.st_gid == self.gid:
            return bool(info.st_mode & stat.S_IXGRP)
        return bool(info.st_mode & stat.S_IXOTH)


def service_user(data_dir: Path) -> ServiceUser | None:
    """None for an ordinary user; for root the owner of existing data, else memgov-pg, else nobody."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    cluster = data_dir / "pgdata"
    if cluster.exists() and cluster.stat().st_uid != 0:
        info = cluster.stat()
        return ServiceUser(_name_of(info.st_uid), info.st_uid, info.st_gid)
    return _account(ACCOUNT) or _create() or _account("nobody")


def _account(name: str) -> ServiceUser | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _create() -> ServiceUser | None:
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not program:
        return None
    command = [program, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return _account(ACCOUNT) if made.returncode == 0 else None

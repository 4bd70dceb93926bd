"""Files on their way in or out of a tenant: on disk, for the owner of the process only, and never for long.

One folder a tenant below `MEMGOV_FILES_DIR`, which web and worker share. A file is named after its job, never by
whoever sent it, is only ever read, and goes when it has been used or after a day.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Final
from uuid import UUID

from django.conf import settings

log = logging.getLogger(__name__)

KEPT: Final = timedelta(hours=24)
UNFINISHED: Final = ".part"
"""How the name of an export ends that is not whole yet."""
_OURS: Final = re.compile(r"[0-9a-f]{32}(\.part)?")
_INCOMING: Final = "incoming"
_UNFINISHED: Final = timedelta(hours=1)


def folder_of(tenant_id: UUID) -> Path:
    """The tenant's folder, made where it is missing."""
    return _made(settings.MEMGOV_FILES_DIR / tenant_id.hex)


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def path_of(tenant_id: UUID, job_id: UUID) -> Path:
    """Where the file of a job is."""
    return folder_of(tenant_id) / job_id.hex


@dataclass(slots=True)
class Incoming:
    """A file that is being received, piece by piece; `size` in bytes."""

    path: Path = field(
        default_factory=lambda: _made(settings.MEMGOV_FILES_DIR / _INCOMING) / secrets.token_hex(16)
    )
    size: int = 0
    _file: IO[bytes] | None = None
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def write(self, piece: bytes) -> None:
        if self._file is None:
            self._file = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._file.write(piece)
        self._digest.update(piece)
        self.size += len(piece)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def keep(self, tenant_id: UUID, job_id: UUID) -> None:
        """Make it the file of a job."""
        self.close()
        os.replace(self.path, path_of(tenant_id, job_id))

    def discard(self) -> None:
        """Take it away, unless it was kept."""
        self.close()
        self.path.unlink(missing_ok=True)


def remove(tenant_id: UUID, job_id: UUID) -> None:
    """Take the file of a job away, and what a worker that was lost had written of it."""
    path = path_of(tenant_id, job_id)
    path.unlink(missing_ok=True)
    path.with_name(path.name + UNFINISHED).unlink(missing_ok=True)


def forget(tenant_id: UUID) -> None:
    """Take every file of a tenant away."""
    shutil.rmtree(settings.MEMGOV_FILES_DIR / tenant_id.hex, ignore_errors=True)


def expire(now: datetime) -> int:
    """Take away what is older than a day, and what was never received to its end; how many files.

    Only what has a name of ours: the folder can be set to one that has other things in it.
    """
    gone = 0
    for path in settings.MEMGOV_FILES_DIR.glob("*/*"):
        received = path.parent.name == _INCOMING
        if not _OURS.fullmatch(path.name) or not (received or _OURS.fullmatch(path.parent.name)):
            continue
        try:
            changed = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
            if now - changed > (_UNFINISHED if received else KEPT):
                path.unlink()
                gone += 1
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            log.warning("a file past its time stays: %s", error)
    return gone

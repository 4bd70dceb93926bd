"""Why a backup or a restore ends.  Each message is one line that says what to do; nothing else lives here."""

from __future__ import annotations

import errno
from pathlib import Path


class BackupError(Exception):
    """It cannot be done; the message is shown to a person as it stands."""


def of_file(error: OSError, path: Path) -> BackupError:
    """What the system said about a file, in words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BackupError(f"the disk of {path.parent} is full; make room or name a file on another disk")
    if isinstance(error, PermissionError):
        return BackupError(f"{path}: this user may not read or write there")
    return BackupError(f"{path}: {error.strerror or error}")

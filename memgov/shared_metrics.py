"""One folder for the figures of all web processes, so that `/metrics` tells of the server and not of one worker.

Has to be asked before anything imports prometheus_client, which decides at import how it counts.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_MEMORY = "/dev/shm"

log = logging.getLogger(__name__)


def share() -> None:
    """Make the folder, in memory where there is room for it, unless the operator named one.

    Called by the process that forks the workers; the folder goes when that process ends.
    """
    if os.environ.get(VARIABLE):
        return
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    try:
        folder = tempfile.mkdtemp(prefix="memgov-metrics-", dir=place)
    except OSError as error:
        log.warning("figures of each web process are kept apart: %s", error)
        return
    os.environ[VARIABLE] = folder
    atexit.register(_remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    """Workers inherit the wish to clean up, but only the owner does."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)

"""`runtime.json` in the data directory: what runs now and where, for the processes that must find it.

Standard library only and cheap to import, because the settings read it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypedDict

from memgov.embedded.children import is_alive
from memgov.embedded.datadir import default_data_dir, secret_key, write_private

__all__ = ["FILE_NAME", "Process", "Runtime", "default_data_dir", "last", "read", "secret_key", "write"]

FILE_NAME = "runtime.json"


class Process(TypedDict):
    """One running process; `port` is 0 for one that listens nowhere."""

    pid: int
    port: int
    restarts: int


class Runtime(TypedDict, total=False):
    """Who holds the data directory and where its servers and processes are."""

    supervisor_pid: int
    app_url: str
    owner_url: str
    redis_url: str
    web_url: str
    mcp_url: str
    processes: dict[str, Process]


def read(data_dir: str | os.PathLike[str]) -> Runtime | None:
    """What runs in this data directory, or None when nothing does (or its holder was killed)."""
    known = last(data_dir)
    return known if known and is_alive(known.get("supervisor_pid", 0)) else None


def last(data_dir: str | os.PathLike[str]) -> Runtime | None:
    """The newest note, whether or not anything of it still runs."""
    try:
        known: Runtime = json.loads((Path(data_dir) / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) else None


def write(data_dir: Path, runtime: Runtime) -> None:
    """Leave the note (0600: it holds passwords)."""
    write_private(data_dir / FILE_NAME, json.dumps(runtime, indent=1))

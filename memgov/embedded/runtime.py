"""`runtime.json` in the data directory: what runs now and where, for the processes that must find it.

Standard library only and cheap to import, because the settings read it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memgov.embedded.children import is_alive
from memgov.embedded.datadir import write_private

FILE_NAME = "runtime.json"


@dataclass
class Runtime:
    """Who holds the data directory and where its servers and processes are."""

    supervisor_pid: int
    app_url: str = ""
    owner_url: str = ""
    redis_url: str = ""
    web_url: str = ""
    mcp_url: str = ""
    pids: dict[str, int] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)


def read(data_dir: str | os.PathLike[str]) -> Runtime | None:
    """What runs in this data directory, or None when nothing does (or its holder was killed)."""
    known = last(data_dir)
    return known if known and is_alive(known.supervisor_pid) else None


def last(data_dir: str | os.PathLike[str]) -> Runtime | None:
    """The newest note, whether or not anything of it still runs."""
    try:
        return Runtime(**json.loads((Path(data_dir) / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write(data_dir: Path, runtime: Runtime) -> None:
    """Leave the note (0600: it holds passwords)."""
    write_private(data_dir / FILE_NAME, json.dumps(asdict(runtime), indent=1))

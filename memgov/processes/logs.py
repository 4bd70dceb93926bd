"""Log files of the supervised processes: following them on a terminal, and keeping them from growing.

Processes write straight into their files, so a killed supervisor neither blocks them nor loses a line.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TextIO

ROTATE_AT = 10 * 1024 * 1024
KEPT = 3
COLOURS = {"web": 36, "mcp": 35, "worker": 32, "beat": 33, "postgres": 34, "valkey": 31}


class LogFile:
    """One file that another process appends to."""

    def __init__(self, name: str, path: Path) -> None:
        self._name, self._path = name, path
        self._position = 0
        self._rest = b""

    def skip(self) -> None:
        """Go to the end: what is there already is not shown."""
        self._position = self._size()

    def new_lines(self) -> list[str]:
        """The lines completed since the last call."""
        size = self._size()
        if size < self._position:
            self._position = 0
        if size == self._position:
            return []
        with open(self._path, "rb") as file:
            file.seek(self._position)
            data = self._rest + file.read(size - self._position)
        self._position = size
        *lines, self._rest = data.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def rotate(self) -> None:
        """Keep the last few generations.  Copied and emptied, because the writer holds the file open."""
        if self._size() < ROTATE_AT:
            return
        for number in range(KEPT - 1, 0, -1):
            older = self._generation(number)
            if older.exists():
                older.replace(self._generation(number + 1))
        shutil.copyfile(self._path, self._generation(1))
        self._generation(1).chmod(0o600)
        os.truncate(self._path, 0)
        self._position = 0

    def _generation(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def prefixed(self, line: str, *, colour: bool) -> str:
        """A line as the terminal shows it, with the process it came from."""
        label = f"{self._name:<8} |"
        return f"\x1b[{COLOURS.get(self._name, 37)}m{label}\x1b[0m {line}" if colour else f"{label} {line}"


class LogFollower:
    """All log files of a start, shown together on one terminal when `out` is given."""

    def __init__(
        self, logs: Path, names: list[str], out: TextIO | None = None, *, rotates: bool = True
    ) -> None:

        self._files = [LogFile(name, logs / f"{name}.log") for name in names]
        self._out, self._rotates = out, rotates
        self._colour = bool(out and out.isatty() and "NO_COLOR" not in os.environ)

    def skip(self) -> None:
        """Show nothing of what was written so far."""
        for file in self._files:
            file.skip()

    def pump(self) -> None:
        """Show what is new, then rotate what is large."""
        for file in self._files:
            if self._out:
                for line in file.new_lines():
                    print(file.prefixed(line, colour=self._colour), file=self._out)
            if self._rotates:
                file.rotate()
        if self._out:
            self._out.flush()


def standard_output_to(path: Path) -> None:
    """From here on what this process prints goes into a file."""
    sys.stdout.flush()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)

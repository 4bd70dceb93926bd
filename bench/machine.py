"""What the figures were measured on, how busy it was, and how much processor time a block took.

Processor time is the figure that a busy machine falsifies least: waiting for a turn is not in it.  Linux only;
elsewhere there is none and nothing is waited for.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROC = Path("/proc")


def machine() -> dict[str, Any]:
    """Processors, their name, and the load at this moment."""
    model = ""
    with contextlib.suppress(OSError):
        lines = (PROC / "cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return {
        "cpus": os.cpu_count(),
        "processor": model,
        "load": [round(value, 2) for value in os.getloadavg()],
    }


@dataclass(slots=True)
class Quiet:
    """Waits for a quieter machine before a block, for a bounded time, and remembers how busy it was.

    Niced work does not count: it gives way.
    """

    patience: float = 10.0
    """Seconds to wait before one block at the most."""
    budget: float = 120.0
    """Seconds to wait in the whole run at the most."""
    busy: list[float] = field(default_factory=list)
    niced: list[float] = field(default_factory=list)

    THRESHOLD = 0.25

    def wait(self) -> None:
        """Return when under a quarter of the machine is in use, or patience or budget are at their end."""
        began = time.monotonic()
        end = began + min(self.patience, self.budget)
        while (seen := _busy()) is not None:
            if seen[0] < self.THRESHOLD or time.monotonic() > end:
                self.busy.append(round(seen[0], 2))
                self.niced.append(round(seen[1], 2))
                break
            time.sleep(0.5)
        self.budget -= time.monotonic() - began

    def summary(self) -> dict[str, float]:
        """Shares of the machine that other work used before the blocks."""
        middle = statistics.median
        return {
            "median": middle(self.busy),
            "most": max(self.busy),
            "niced": middle(self.niced),
            "blocks": len(self.busy),
        }


def _busy(seconds: float = 0.2) -> tuple[float, float] | None:
    """Shares of the machine in use by normal and by niced work, over a moment."""
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if not before or not after:
        return None
    spent = [later - earlier for earlier, later in zip(before, after, strict=True)]
    whole = max(1, sum(spent))
    _, niced, _, idle, waiting = spent[:5]
    return 1 - (niced + idle + waiting) / whole, niced / whole


def _ticks() -> list[int]:
    try:
        with open(PROC / "stat", encoding="utf-8") as stat:
            return [int(word) for word in stat.readline().split()[1:9]]
    except OSError:
        return []


def cpu_seconds(apart_from: int) -> float:
    """Processor time so far of all processes that descend from this one, without itself; 0 where nobody tells."""
    return sum(_on_cpu(process) for process in family(apart_from)[1:])


def family(process: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [process]
    for one in found:
        found += children.get(one, ())
    return found


def _on_cpu(process: int) -> float:
    """Seconds on a processor, of all threads, to the nanosecond where the kernel counts so."""
    total = 0
    for task in (PROC / str(process) / "task").glob("*/schedstat"):
        with contextlib.suppress(OSError, ValueError):
            total += int(task.read_text(encoding="ascii").split()[0])
    return total / 1e9


def proportional_mb(process: int) -> float:
    """Memory of a process in MB, what it shares with others counted in parts; 0 where the system does not tell."""
    return _megabytes(PROC / str(process) / "smaps_rollup", "Pss:")


def resident_mb(process: int) -> float:
    """Memory that a process holds, in MB; 0 where the system does not tell."""
    return _megabytes(PROC / str(process) / "status", "VmRSS:")


def _megabytes(file: Path, name: str) -> float:
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith(name):
                return round(int(line.split()[1]) / 1024, 1)
    return 0.0

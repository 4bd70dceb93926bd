"""`memgov down`, `status` and `logs`: about a product that runs elsewhere, found by its data directory."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from time import monotonic
from typing import Any

from memgov.embedded import children, runtime
from memgov.embedded.errors import StartError
from memgov.processes import readiness
from memgov.processes.commands import ROLES
from memgov.processes.logs import LogFile, LogFollower

READY, NOT_READY, NOT_RUNNING = 0, 1, 3
DOWN_SECONDS = 120.0
LINES_SHOWN = 20
LOG_NAMES = (*ROLES, "postgres", "valkey", "prepare", "demo", "supervisor")


def down(data_dir: Path) -> int:
    """Ask the supervisor to end and wait until it has."""
    known = runtime.read(data_dir)
    if known is None:
        print(f"memgov is not running ({data_dir})")
        return 0
    pid = known["supervisor_pid"]
    if "web_url" not in known:
        raise StartError(f"another memgov command uses {data_dir} (pid {pid}); wait for it to end")
    os.kill(pid, signal.SIGTERM)
    end, tick = monotonic() + DOWN_SECONDS, threading.Event()
    while children.is_alive(pid):
        if monotonic() > end:
            raise StartError(
                f"memgov (pid {pid}) has not ended after {DOWN_SECONDS:.0f} s; see {data_dir}/logs"
            )
        tick.wait(0.1)
    print(f"stopped; the data stays in {data_dir}")
    return 0


def status(data_dir: Path, *, as_json: bool) -> int:
    """Exit code 0 when ready, 1 when something is missing, 3 when it does not run."""
    report = _report(data_dir)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        _show(report)
    if not report["running"]:
        return NOT_RUNNING
    return READY if report["ready"] else NOT_READY


def _report(data_dir: Path) -> dict[str, Any]:
    known = runtime.read(data_dir)
    if known is None or "web_url" not in known:
        return {"running": False, "ready": False, "data_dir": str(data_dir), "processes": {}}
    answer = readiness.ask(known["web_url"])
    processes = {
        name: {**process, "alive": children.is_alive(process["pid"])}
        for name, process in known.get("processes", {}).items()
    }
    return {
        "running": True,
        "ready": answer.ready,
        "detail": answer.detail,
        "pid": known["supervisor_pid"],
        "web_url": known["web_url"],
        "mcp_url": known["mcp_url"],
        "data_dir": str(data_dir),
        "processes": processes,
    }


def _show(report: dict[str, Any]) -> None:
    if not report["running"]:
        print(f"memgov is not running ({report['data_dir']}); start it with `memgov up`")
        return
    state = "ready" if report["ready"] else f"not ready: {report['detail']}"
    print(f"memgov (pid {report['pid']}) at {report['web_url']} is {state}")
    for name, process in report["processes"].items():
        place = f"port {process['port']}" if process["port"] else ""
        alive = "runs" if process["alive"] else "ENDED"
        print(f"  {name:<9} {alive:<6} pid {process['pid']:<8} {place:<11} restarts {process['restarts']}")
    print(f"  data      {report['data_dir']}")


def logs(data_dir: Path, names: list[str], *, follow: bool) -> int:
    """The last lines of each log, then new ones as they come when `follow`."""
    if unknown := set(names) - set(LOG_NAMES):
        raise StartError(
            f"no process is called {', '.join(sorted(unknown))}; there are {', '.join(LOG_NAMES)}"
        )
    folder, chosen = data_dir / "logs", names or list(LOG_NAMES)
    follower = LogFollower(folder, chosen, sys.stdout, rotates=False)
    for name in chosen:
        file = LogFile(name, folder / f"{name}.log")
        for line in file.new_lines()[-LINES_SHOWN:]:
            print(file.prefixed(line, colour=False))
    follower.skip()
    tick = threading.Event()
    while follow:
        tick.wait(0.3)
        follower.pump()
    return 0

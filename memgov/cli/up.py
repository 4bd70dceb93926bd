"""`memgov up`: in this terminal, or detached from it once everything is ready."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from memgov.processes.logs import standard_output_to
from memgov.processes.plan import Plan, program

SETTLE_SECONDS = 2.0


def run(data_dir: Path, options: argparse.Namespace) -> int:
    """Start everything; returns when it was stopped (or, detached, when it is ready)."""
    from memgov.supervisor import Supervisor  # brings psycopg, which other commands start faster without

    plan = Plan(data_dir, options.port, demo=not options.no_demo)
    if options.detach:
        return _detach(plan)
    if options.behind_detach:
        Supervisor(
            plan, follow=False, when_ready=lambda: standard_output_to(plan.logs / "supervisor.log")
        ).run()
    else:
        Supervisor(plan, follow=True).run()
    return 0


def _detach(plan: Plan) -> int:
    """Run `up` in a session of its own and show what it says until it is ready or has failed.

    Being ready it turns its output to a file, which ends ours.
    """
    command = [sys.executable, "-m", "memgov.cli", "up", "--behind-detach"]
    command += [
        "--port",
        str(plan.port),
        "--data-dir",
        str(plan.data_dir),
        *([] if plan.demo else ["--no-demo"]),
    ]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            sys.stdout.write(line.decode(errors="replace"))
            sys.stdout.flush()
    except KeyboardInterrupt:
        child.terminate()
        raise
    try:
        return child.wait(timeout=SETTLE_SECONDS)
    except subprocess.TimeoutExpired:
        memgov = program(plan.data_dir)
        print(f"It runs in the background: `{memgov} status`, `{memgov} logs -f`, `{memgov} down`.")
        return 0

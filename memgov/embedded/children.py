"""Starting a program so that it cannot outlive us, waiting for it, and ending what an earlier start left.

Used for the two servers and for the product's own processes.  Nothing here knows what they are.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from memgov.embedded.errors import StartError

RETRY_PAUSES = (0.1, 0.3, 1.0, 3.0, 5.0)
_PR_SET_PDEATHSIG = 1
_C_LIBRARY = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def spawn(
    command: Sequence[str],
    *,
    log: Path,
    death_signal: signal.Signals,
    environment: Mapping[str, str] | None = None,
    text_input: str = "",
    **popen: Any,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, its output appended to `log` (0600).

    The own session keeps a terminal's Ctrl-C from reaching it, so that we decide the order of ending.
    `death_signal` is what the kernel sends it when the starting thread dies (Linux only).
    """
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if text_input else subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            env=dict(environment) if environment is not None else None,
            start_new_session=True,
            umask=0o077,
            preexec_fn=_die_with_parent(death_signal),  # noqa: PLW1509  (one system call, no lock taken)
            **popen,
        )
    except OSError as error:
        raise StartError(f"{command[0]} cannot be started: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if process.stdin:
        process.stdin.write(text_input.encode())
        process.stdin.close()
    return process


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    if _C_LIBRARY is None:
        return None
    prctl, parent = _C_LIBRARY.prctl, os.getpid()

    def ask_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died between the fork and the line above
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_kernel


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until `ready()`; False when the process ended or the time is over first."""
    end = monotonic() + seconds
    while monotonic() < end:
        if ready():
            return True
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            continue
        return False
    return False


def launch_patiently(launch: Callable[[], bool], name: str, log: Path) -> None:
    """Call `launch` until it succeeds; after some ten seconds `StartError` with the log's last word."""
    for pause in RETRY_PAUSES:
        if launch():
            return
        threading.Event().wait(pause)
    raise StartError(f"{name} did not start: {last_line(log)} (see {log})")


def last_line(path: Path) -> str:
    """The last line that says something, for an error message of one line."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except FileNotFoundError:
        return "it left no log"
    return lines[-1].strip() if lines else "it left no log"


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of a child's session: the child and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def end(process: subprocess.Popen[bytes], how: signal.Signals, seconds: float) -> None:
    """Ask a child to end, and insist when it has not after `seconds`."""
    if process.poll() is not None:
        return
    process.send_signal(how)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process of this id runs (a zombie counts as ended)."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _state(pid).startswith("Z")


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].strip()
    except OSError:
        return ""


def command_line(pid: int) -> str:
    """The command line of a running process, or '' when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    except OSError:
        return ""
    listed = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode(errors="replace")


def end_orphan(pid: int, marker: str, how: signal.Signals, seconds: float = 30) -> None:
    """End a process left by a killed start; `marker` in its command line proves that it is ours."""
    if not is_alive(pid) or marker not in command_line(pid):
        return
    os.kill(pid, how)
    insist_at, tick = monotonic() + seconds, threading.Event()
    while is_alive(pid):
        if monotonic() > insist_at:
            os.kill(pid, signal.SIGKILL)
            insist_at = monotonic() + seconds
        tick.wait(0.05)


def working_in(folder: Path) -> list[int]:
    """Processes whose working directory is this folder; none where the system does not tell (macOS)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if entry.readlink() == folder:
                found.append(int(entry.parent.name))
    return found


def free_port(preferred: int = 0) -> int:
    """A local port nobody listens on; the preferred one when it is free."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise StartError("no free local port can be found")

"""Client processes as the coordinator sees them, and one block of work given to several of them at once."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.machine import cpu_seconds
from bench.systems.base import Places

START_DELAY = 0.15
"""Seconds until a block starts, so that every caller has its command by then."""


class CallerFailed(RuntimeError):
    """A client process answered with an error or has ended."""


class CallerProcess:
    """One `bench.client`, in the Python of the systems that it calls."""

    def __init__(self, python: str, environment: Mapping[str, str], log: Path) -> None:
        with open(log, "ab") as errors:
            self._process = subprocess.Popen(
                [python, "-m", "bench.client"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=dict(environment), text=True,
            )  # fmt: skip

    def send(self, **command: Any) -> None:
        """Give a command without waiting for the answer."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next answer.  Raises `CallerFailed`."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the client process has ended"}
        if "error" in answer:
            raise CallerFailed(answer["error"])
        return answer

    def ask(self, **command: Any) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        self.send(**command)
        return self.receive()

    def close(self) -> None:
        """End the process."""
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


Crowds = Mapping[str, Sequence[CallerProcess]]
"""By system, the client processes that have attached to it."""


@contextlib.contextmanager
def crowds(
    pythons: Mapping[str, str], size: int, places: Places, environment: Mapping[str, str], logs: Path
) -> Iterator[Crowds]:
    """So many callers of each system, which is prepared first.  Systems of one Python share their processes.

    A system that cannot be prepared raises `CallerFailed`.
    """
    started: dict[str, list[CallerProcess]] = {}
    attached: dict[str, list[CallerProcess]] = {}
    try:
        for system, python in pythons.items():
            if python not in started:
                started[python] = [
                    CallerProcess(python, environment, logs / f"caller-{system}-{number}.log")
                    for number in range(size)
                ]
            for number, caller in enumerate(started[python]):
                caller.ask(do="attach", system=system, places=places, prepare=number == 0)
            attached[system] = started[python]
        yield attached
    finally:
        for caller in (caller for many in started.values() for caller in many):
            caller.close()


@dataclass(frozen=True, slots=True)
class Block:
    """What came of one block: times in ms, calls per second, and what the calls said."""

    p50: float
    p95: float
    rate: float
    cpu_ms: float
    """Processor time of all processes of the run per call, the caller's included."""
    calls: int
    failed: int
    first_failure: str
    hits: float | None = None
    """Share of questions whose answer was among the results."""
    results: float | None = None
    """Results per question, of ten asked for."""
    said: dict[str, int] = field(default_factory=dict)


def run_block(callers: Sequence[CallerProcess], *, start: int, count: int, **command: Any) -> Block:
    """The same work at once by every caller, `count` calls in all; merged.  Raises `CallerFailed`."""
    each = count // len(callers)
    before = cpu_seconds(os.getpid())
    at = time.time() + START_DELAY
    for index, caller in enumerate(callers):
        caller.send(**command, start=start + index * each, count=each, at=at)
    answers = [caller.receive() for caller in callers]
    return _merged(answers, cpu_seconds(os.getpid()) - before)


def _merged(answers: Sequence[dict[str, Any]], cpu: float) -> Block:
    times = sorted(ms for answer in answers for ms in answer["ms"])
    first = next((answer["first_failure"] for answer in answers if answer["first_failure"]), "")
    if not times:
        raise CallerFailed(first or "no call was made")
    said = Counter[str]()
    for answer in answers:
        said.update(answer.get("said", {}))
    searched = "hits" in answers[0]
    return Block(
        p50=percentile(times, 0.5),
        p95=percentile(times, 0.95),
        rate=len(times) / max(answer["seconds"] for answer in answers),
        cpu_ms=cpu / len(times) * 1000,
        calls=len(times),
        failed=sum(answer["failed"] for answer in answers),
        first_failure=first,
        hits=sum(answer["hits"] for answer in answers) / len(times) if searched else None,
        results=sum(answer["results"] for answer in answers) / len(times) if searched else None,
        said=dict(said),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of the ordered values does not exceed."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]

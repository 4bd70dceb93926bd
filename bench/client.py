"""One caller in a process of its own: reads commands as JSON lines, does them, answers with times in ms.

    python -m bench.client

    {"do": "attach", "system": "floor", "places": {…}}      {"do": "write", "system": "floor", "start": 1, "count": 9}

A system's chatter on standard output cannot break the protocol: it is sent to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from bench.junk import BYSTANDERS, CASES, RACE, of_case
from bench.machine import resident_mb
from bench.systems.base import System, make
from bench.workload import Fact, fact, facts, question

LIMIT = 10
_CHUNK = 1000
_BYSTANDERS_FROM = 9_000_000


class Caller:
    """Holds the systems that this process has attached to, by name."""

    def __init__(self) -> None:
        self._systems: dict[str, System] = {}

    def do(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command; its answer."""
        action: Callable[..., dict[str, Any]] = getattr(self, f"_do_{command['do']}")
        return action(command["system"], command)

    def _do_attach(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        system = make(name, command["places"])
        if command.get("prepare"):
            system.prepare()
        system.attach()
        self._systems[name] = system
        return {"seconds": time.perf_counter() - began, "memory_mb": resident_mb(os.getpid())}

    def _do_fill(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        start, end = command["start"], command["start"] + command["count"]
        for at in range(start, end, _CHUNK):
            self._systems[name].fill(list(facts(at, min(_CHUNK, end - at))))
        self._systems[name].settle()
        return {"seconds": time.perf_counter() - began}

    def _do_write(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system, said = self._systems[name], Counter[str]()

        def write(number: int) -> None:
            said[system.write(fact(number))] += 1

        answer = timed(write, range(command["start"], command["start"] + command["count"]), command)
        return {**answer, "said": said}

    def _do_retrieve(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system, found = self._systems[name], {"hits": 0, "results": 0}

        def search(number: int) -> None:
            asked = question(number, command["size"])
            texts = system.search(asked.user, asked.text, LIMIT)
            found["hits"] += asked.answer in texts
            found["results"] += len(texts)

        answer = timed(search, range(command["start"], command["start"] + command["count"]), command)
        return {**answer, **found}

    def _do_digest(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system: Any = self._systems[name]

        def read(number: int) -> None:
            if not system.digest(question(number, command["size"]).user):
                raise RuntimeError("an empty digest")

        return timed(read, range(command["start"], command["start"] + command["count"]), command)

    def _do_junk(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system, case = self._systems[name], CASES[command["case"]]
        for number in range(BYSTANDERS):
            system.write(fact(_BYSTANDERS_FROM + number * 7, case.user))
        before = system.live(case.user)
        said = Counter(_written(system, one) for one in case.facts)
        if lifetimes := [one.lifetime for one in case.facts if one.lifetime]:
            time.sleep(max(lifetimes) + 0.5)
        system.settle()
        shown = of_case(case, system.search(case.user, case.question, LIMIT))
        return {"live": system.live(case.user) - before, "shown": shown, "said": said}

    def _do_race(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system = self._systems[name]
        time.sleep(max(0.0, command["at"] - time.time()))
        return {"said": Counter(_written(system, RACE) for _ in range(command["count"]))}

    def _do_live(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        system = self._systems[name]
        system.settle()
        return {"live": system.live(command["user"])}


def _written(system: System, one: Fact) -> str:
    """What became of a write; an error is one more answer, in the name of its kind."""
    try:
        return system.write(one)
    except Exception as error:
        return type(error).__name__


def timed(act: Callable[[int], None], numbers: Iterable[int], command: dict[str, Any]) -> dict[str, Any]:
    """Do it for every number, from the common moment `at` on, until done or `limit_seconds` have passed."""
    times: list[float] = []
    failed, first_failure = 0, ""
    wait = command["at"] - time.time()
    if wait > 0:
        time.sleep(wait)
    began = time.perf_counter()
    for number in numbers:
        start = time.perf_counter()
        if start - began > command["limit_seconds"]:
            break
        try:
            act(number)
        except Exception as error:
            failed += 1
            first_failure = first_failure or f"{type(error).__name__}: {error}"[:300]
            continue
        times.append((time.perf_counter() - start) * 1000)
    seconds = time.perf_counter() - began
    return {"ms": times, "seconds": seconds, "failed": failed, "first_failure": first_failure}


def main() -> None:
    """Answer commands until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    caller = Caller()
    for line in sys.stdin:
        try:
            answer = caller.do(json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:400]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

"""What a write and a retrieval cost: bare psycopg, a bare DRF view, memgov and its peers, at growing sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench import workload
from bench.callers import Block, CallerProcess, Crowds, run_block
from bench.machine import Quiet
from bench.stage import Stage
from bench.systems.base import NAMES
from bench.turns import Case, growth, take_turns

WRITE, RETRIEVE, DIGEST = "write", "retrieve", "digest"
COSTS = (RETRIEVE, WRITE, DIGEST)
CROWD = 4
"""Callers of the crowded blocks, each in a process of its own."""
BLOCK_SECONDS = 6.0
"""A block ends after this time, however slow the system."""
WARM_UP = 5
"""Calls per caller before each block, not counted."""
WRITES_APART = 10_000
"""Numbers that one block of writes may use up."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much is measured."""

    sizes: Sequence[int] = (1_000, 10_000, 50_000)
    rounds: int = 3
    calls: int = 150
    workloads: Sequence[str] = COSTS


QUICK = Amounts(sizes=(200, 1_000), rounds=2, calls=20)


class Costs:
    """One run: fills, and takes the cases in order of size."""

    def __init__(
        self, stage: Stage, crowds: Crowds, amounts: Amounts, quiet: Quiet, tell: Callable[[str], None]
    ) -> None:
        self._stage, self._amounts, self._quiet, self._tell = stage, amounts, quiet, tell
        self._callers = crowds
        self._filled = dict.fromkeys(crowds, 0)
        self._next_write = workload.NEW_FROM
        self.cases: list[Case] = []

    def run(self) -> dict[str, Any]:
        """All cases; the JSON of the report's part.  Told to end, it gives the cases that are complete."""
        interrupted = False
        try:
            for size in self._amounts.sizes:
                self._run_size(size)
        except (KeyboardInterrupt, SystemExit):
            interrupted = True
        cases = [case.as_json() for case in self.cases]
        return {"cases": cases, "growth": growth(self.cases), "interrupted": interrupted}

    def _run_size(self, size: int) -> None:
        for name in self._callers:
            self._tell(f"filling {name} to {size:,}")
            self._fill(name, size)
        for kind in self._amounts.workloads:
            for clients in (1, CROWD):
                self.cases.append(self._case(kind, size, clients))

    @property
    def steps(self) -> int:
        """How often `tell` will be called, for the progress bar."""
        blocks = len(self._amounts.workloads) * 2 * self._amounts.rounds
        return len(self._amounts.sizes) * len(self._callers) * (1 + blocks)

    def _fill(self, name: str, size: int) -> None:
        have = self._filled[name]
        if name == "memgov":
            from bench.fill import fill

            assert self._stage.principal
            fill(self._stage.principal, self._stage.servers.superuser_url, have, size - have)
        else:
            self._callers[name][0].ask(do="fill", system=name, start=have, count=size - have)
        self._filled[name] = size

    def _case(self, kind: str, size: int, clients: int) -> Case:
        def run(name: str, number: int) -> Block:
            return self._block(kind, name, self._callers[name][:clients], size, number)

        able = [name for name in self._callers if kind != DIGEST or name in NAMES]
        return take_turns(kind, size, clients, able, self._amounts.rounds, run, self._quiet, self._tell)

    def _block(self, kind: str, name: str, callers: Sequence[CallerProcess], size: int, number: int) -> Block:
        count = self._amounts.calls * (2 if len(callers) > 1 else 1)
        command = {"do": kind, "system": name, "size": size, "limit_seconds": BLOCK_SECONDS}
        if kind == WRITE:  # what was written once cannot be written anew
            start, self._next_write = self._next_write, self._next_write + WRITES_APART
        else:
            start = (number * 2 + (len(callers) > 1)) * WRITES_APART
        run_block(callers, start=start + WRITES_APART // 2, count=WARM_UP * len(callers), **command)
        return run_block(callers, start=start, count=count, **command)

"""What a write and a retrieval cost: bare psycopg, a bare DRF view, memgov and its peers, at growing sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench import workload
from bench.callers import Block, CallerProcess, Crowds, run_block
from bench.machine import Quiet
from bench.stage import Stage
from bench.turns import Case, growth, take_turns

WRITE, RETRIEVE = "write", "retrieve"
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
    workloads: Sequence[str] = (RETRIEVE, WRITE)


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
        """All cases; the JSON of the report's part."""
        for size in self._amounts.sizes:
            for name in self._callers:
                self._tell(f"filling {name} to {size:,}")
                self._fill(name, size)
            for kind in self._amounts.workloads:
                for clients in (1, CROWD):
                    self.cases.append(self._case(kind, size, clients))
        return {"cases": [case.as_json() for case in self.cases], "growth": growth(self.cases)}

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
            callers = self._callers[name][:clients]
            return (
                self._write(name, callers) if kind == WRITE else self._retrieve(name, callers, size, number)
            )

        rounds = self._amounts.rounds
        return take_turns(kind, size, clients, list(self._callers), rounds, run, self._quiet, self._tell)

    def _write(self, name: str, callers: Sequence[CallerProcess]) -> Block:
        count = self._amounts.calls * (2 if len(callers) > 1 else 1)
        common = {"do": WRITE, "system": name, "limit_seconds": BLOCK_SECONDS}
        run_block(callers, start=self._next_write, count=WARM_UP * len(callers), **common)
        self._next_write += WRITES_APART
        block = run_block(callers, start=self._next_write, count=count, **common)
        self._next_write += WRITES_APART
        return block

    def _retrieve(self, name: str, callers: Sequence[CallerProcess], size: int, number: int) -> Block:
        count = self._amounts.calls * (2 if len(callers) > 1 else 1)
        common = {"do": RETRIEVE, "system": name, "size": size, "limit_seconds": BLOCK_SECONDS}
        start = (number * 2 + (len(callers) > 1)) * WRITES_APART
        run_block(callers, start=start + WRITES_APART // 2, count=WARM_UP * len(callers), **common)
        return run_block(callers, start=start, count=count, **common)

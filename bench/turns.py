"""Blocks that take turns (A B C, B C A, C A B), and medians and ratios over the rounds.

A busy machine makes every time longer; systems measured seconds apart are slowed alike, so their ratio holds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.callers import Block, CallerFailed
from bench.machine import Quiet

RunBlock = Callable[[str, int], Block]
"""Of a system's name and the round's number."""


@dataclass(frozen=True, slots=True)
class Case:
    """What was measured in one setting: blocks by system, one per round."""

    workload: str
    size: int
    clients: int
    blocks: Mapping[str, Sequence[Block]]
    failures: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Medians by system and ratios to each floor."""
        return {
            "workload": self.workload,
            "size": self.size,
            "clients": self.clients,
            "systems": {name: _medians(blocks) for name, blocks in self.blocks.items() if blocks},
            "failures": dict(self.failures),
            "ratios": self.ratios("p50"),
            "cpu_ratios": self.ratios("cpu_ms"),
        }

    def ratios(self, figure: str) -> dict[str, float]:
        """`memgov/drf` and so on: the median over rounds of the quotient of this figure in one round."""
        pairs = [("drf", "floor"), *(("memgov", other) for other in self.blocks if other != "memgov")]
        return {
            f"{one}/{other}": round(
                statistics.median(_quotients(self.blocks[one], self.blocks[other], figure)), 2
            )
            for one, other in pairs
            if self.blocks.get(one) and self.blocks.get(other)
        }


def _quotients(ones: Sequence[Block], others: Sequence[Block], figure: str) -> list[float]:
    pairs = zip(ones, others, strict=False)
    found = [(getattr(one, figure), getattr(other, figure)) for one, other in pairs]
    return [one / other for one, other in found if other] or [0.0]


def _medians(blocks: Sequence[Block]) -> dict[str, Any]:
    rows = [asdict(block) for block in blocks]
    result: dict[str, Any] = {"rounds": len(rows), "said": {}}
    for name in ("p50", "p95", "cpu_ms", "rate", "hits", "results"):
        if rows[0][name] is not None:
            result[name] = round(statistics.median(row[name] for row in rows), 3)
    for block in blocks:
        for word, times in block.said.items():
            result["said"][word] = result["said"].get(word, 0) + times
    result["failed"] = sum(block.failed for block in blocks)
    if first := next((block.first_failure for block in blocks if block.first_failure), ""):
        result["first_failure"] = first
    return result


def take_turns(
    workload: str,
    size: int,
    clients: int,
    systems: Sequence[str],
    rounds: int,
    run: RunBlock,
    quiet: Quiet,
    tell: Callable[[str], None],
) -> Case:
    """Every system once per round, another one first each time.  A system that fails is left out from then on."""
    blocks: dict[str, list[Block]] = {name: [] for name in systems}
    failures: dict[str, str] = {}
    for number in range(rounds):
        first = number % len(systems)
        for name in (*systems[first:], *systems[:first]):
            if name in failures:
                continue
            quiet.wait()
            tell(f"{workload} {size:,} × {clients} {name}")
            try:
                blocks[name].append(run(name, number))
            except CallerFailed as error:
                failures[name] = str(error)
                blocks[name] = []
    return Case(workload, size, clients, blocks, failures)


def growth(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """By workload and system: the p50 at the largest size by that at the smallest, of one caller."""
    found: dict[str, dict[str, float]] = {}
    for workload in {case.workload for case in cases}:
        alone = sorted(
            (case for case in cases if case.workload == workload and case.clients == 1),
            key=lambda case: case.size,
        )
        if len(alone) < 2:
            continue
        small, large = alone[0], alone[-1]
        found[workload] = {
            name: round(_p50(large.blocks[name]) / _p50(small.blocks[name]), 2)
            for name in small.blocks
            if small.blocks[name] and large.blocks.get(name)
        }
    return found


def _p50(blocks: Sequence[Block]) -> float:
    return statistics.median(block.p50 for block in blocks)

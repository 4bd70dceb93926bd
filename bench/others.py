"""What other tenants cost: the same tenant, asked the same, in a database of few and of very many rows of others.

The bare view is asked in the same blocks; its own database does not grow, so that it tells how much slower the machine
has become meanwhile, and memgov's growth is given by that measure too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.callers import Block, Crowds, run_block
from bench.costs import BLOCK_SECONDS, RETRIEVE, WARM_UP, Amounts
from bench.fill import fill, settled
from bench.machine import Quiet
from bench.plant import Planting, make_indexes, plant, without_vector_indexes
from bench.stage import Stage
from bench.turns import take_turns

OURS = 1_000
"""Memories of the tenant that asks."""
EACH = 20_000
"""Memories of each other tenant at the most."""


def run(
    stage: Stage,
    crowds: Crowds,
    counts: Sequence[int],
    amounts: Amounts,
    quiet: Quiet,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """p50 by rows of others, and the growth from the fewest to the most."""
    principal, superuser = stage.principal, stage.servers.superuser_url
    assert principal
    fill(principal, superuser, 0, OURS)
    crowds["drf"][0].ask(do="fill", system="drf", start=0, count=OURS)
    planted, cases = 0, []
    for count in counts:
        tell(f"planting {count:,} memories of others")
        _plant_others(stage, count - planted)
        planted = count

        def block(name: str, number: int) -> Block:
            common = {"do": RETRIEVE, "system": name, "size": OURS, "limit_seconds": BLOCK_SECONDS}
            run_block(crowds[name][:1], start=5_000, count=WARM_UP, **common)
            return run_block(crowds[name][:1], start=number * 500, count=amounts.calls, **common)

        case = take_turns(f"among {count:,}", OURS, 1, ["drf", "memgov"], amounts.rounds, block, quiet, tell)
        cases.append({"others": count, **case.as_json()})
    return {"cases": cases, "growth": _growth(cases[0], cases[-1])}


def steps(counts: Sequence[int], amounts: Amounts) -> int:
    """How often `tell` will be called."""
    return len(counts) * (1 + 2 * amounts.rounds)


def _growth(few: dict[str, Any], many: dict[str, Any]) -> dict[str, float]:
    ours = {
        name: many["systems"]["memgov"][name] / few["systems"]["memgov"][name] for name in ("p50", "cpu_ms")
    }
    beside = many["ratios"]["memgov/drf"] / few["ratios"]["memgov/drf"]
    return {
        "p50": round(ours["p50"], 2),
        "processor_time": round(ours["cpu_ms"], 2),
        "beside_drf": round(beside, 2),
    }


def _plant_others(stage: Stage, rows: int) -> None:
    from bench.stage import new_tenant

    superuser = stage.servers.superuser_url
    dropped = without_vector_indexes(superuser)
    while rows > 0:
        _, principal, _ = new_tenant()
        plant(principal, superuser, Planting(min(rows, EACH), vectors=True))
        rows -= EACH
    settled(superuser)  # before there is an index that would take in row by row
    make_indexes(superuser, dropped)

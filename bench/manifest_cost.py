"""What the manifest adds to a retrieval: the service with and without it, call by call in turns, in one process.

`python -m bench.manifest_cost --size 10000 --calls 300`; servers of its own, on disk as in production.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from bench import workload
from bench.stage import Stage

WARM_UP = 30


def main() -> None:
    """Measure and print medians in milliseconds, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    options = parser.parse_args()
    with Stage() as stage:
        principal = stage.make_tenant("open")
        from bench.fill import fill

        fill(principal, stage.servers.superuser_url, 0, options.size)
        print(said(options.size, measured(principal, options.size, options.calls)))


def measured(principal: Any, size: int, calls: int) -> dict[str, list[float]]:
    """Seconds of each call, by kind, one of each kind after the other."""
    from memory.services.recall import RetrieveRequest, memory_retrieve

    def ask(number: int) -> Any:
        asked = workload.question(number, size)
        return memory_retrieve(
            principal, RetrieveRequest(asked.text, scopes=[f"user:{asked.user}"], session="s1")
        )

    times: dict[str, list[float]] = {"with": [], "without": []}
    given = 0
    for number in range(-WARM_UP, calls):
        for kind in ("with", "without") if number % 2 else ("without", "with"):
            with nothing_kept(kind == "without"):
                start = perf_counter()
                answer = ask(number + WARM_UP)
                took = perf_counter() - start
            if number >= 0:
                times[kind].append(took)
                given += len(answer.entries)
    print(f"entries given per read: {given / (2 * calls):.1f}")
    return times


@contextmanager
def nothing_kept(active: bool) -> Iterator[None]:
    """Retrievals without their manifest, which the product never makes."""
    from memory.store import manifests

    insert = manifests.insert
    if active:
        manifests.insert = lambda manifest, entries: None
    try:
        yield
    finally:
        manifests.insert = insert


def said(size: int, times: dict[str, list[float]]) -> str:
    """The figures as one line."""
    pairs = [one / other for one, other in zip(times["with"], times["without"], strict=True)]
    medians = {kind: 1000 * statistics.median(found) for kind, found in times.items()}
    return (
        f"{size:,} memories: {medians['with']:.2f} ms with its manifest, {medians['without']:.2f} ms without, "
        f"ratio {statistics.median(pairs):.2f}"
    )


if __name__ == "__main__":
    main()

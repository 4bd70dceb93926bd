"""The measurements of `memgov bench`: each sets its stage, runs, and gives its part of the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import Any, Protocol

from bench import conversations, junk_run
from bench.callers import Crowds, crowds
from bench.costs import CROWD, QUICK, Amounts, Costs
from bench.junk import RACERS
from bench.machine import Quiet
from bench.peers import python_of
from bench.stage import Stage
from bench.systems.base import NAMES, PEERS
from memgov.embedded.errors import StartError


class Tell(Protocol):
    """Says what is being done: one more step, or (with `steps`) how many there will be."""

    def __call__(self, text: str, steps: int | None = None) -> None: ...


class Part(Protocol):
    """One measurement."""

    def __call__(self, options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]: ...


def costs(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """What writes, retrievals and digests cost beside the floors and peers."""
    amounts = _amounts(options)
    pythons = _pythons(options.peers, tell)
    with _served("hash:dense") as stage, _crowds(stage, pythons, CROWD) as ready:
        run = Costs(stage, ready, amounts, quiet, tell)
        tell("starting", run.steps)
        return {"amounts": asdict(amounts), "costs": run.run()}


def junk(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """What becomes of junk.  memgov has its real embedder here, which sees what words do not share."""
    pythons = _pythons(options.peers, tell)
    pythons.pop("drf")  # it stores what the floor stores
    with _served("minilm") as stage, _crowds(stage, pythons, RACERS) as ready:
        tell("starting", junk_run.steps(ready))
        return {"junk": junk_run.run(stage, ready, tell)}


def sweep(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """Rows per second of the sweeps."""
    sizes, rounds = options.sizes or (10_000, 100_000), options.rounds or 2
    with Stage("none") as stage:
        from bench import sweeps

        tell("starting", sweeps.steps(sizes, rounds))
        return {"sweeps": sweeps.run(stage, sizes, rounds, quiet, tell)}


def preview(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """Seconds to try a policy on all memories of a tenant."""
    sizes, rounds = options.sizes or (10_000, 100_000), options.rounds or 1
    with Stage("none") as stage:
        from bench import preview as trying

        tell("starting", trying.steps(sizes, rounds))
        return {"previews": trying.run(stage, sizes, rounds, quiet, tell)}


def pages(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """What a page costs with very much in every queue."""
    size, rounds = max(options.sizes or (100_000,)), options.rounds or 15
    with _served("hash:dense") as stage:
        from bench import pages as asking

        tell("starting", asking.steps())
        return {"pages": {"size": size, "rows": asking.run(stage, size, rounds, quiet, tell)}}


def others(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """What other tenants' memories cost."""
    counts = options.sizes or (1_000, 1_000_000)
    amounts = Amounts(rounds=options.rounds or 5, calls=options.calls or 200)
    with _served("hash:dense") as stage, _crowds(stage, _pythons("", tell), 1) as ready:
        from bench import others as among

        tell("starting", among.steps(counts, amounts))
        return {"others": among.run(stage, ready, counts, amounts, quiet, tell)}


def start(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """Cold start and memory."""
    from bench import start as starting

    tell("starting", 1 + options.again)
    return {"start": starting.run(options.again, tell)}


def quality(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """What retrieval finds.  Raises `FileRefused`."""
    found = conversations.read(options.file)[: options.conversations]
    with Stage(options.embedder) as stage:
        principal = stage.make_tenant("open")
        from bench.quality import Quality, steps

        tell("starting", steps(found))
        run = Quality(principal, stage.policy, tell)
        return {"embedder": options.embedder, "quality": run.run(found)}


def year(options: argparse.Namespace, quiet: Quiet, tell: Tell) -> dict[str, Any]:
    """A year of simulated life, with sweeps and without."""
    from bench.year_story import QUICK, Scale

    scale = QUICK if options.quick else Scale()
    with Stage(options.embedder) as stage:
        assert stage
        from bench import year as lived
        from bench.year_draw import picture

        tell("starting", scale.crews * scale.sessions)
        found = lived.run(scale, tell, options.seed)
        if options.draw:
            options.draw.write_text(picture(found), encoding="utf-8")
        return {"year": found}


def _amounts(options: argparse.Namespace) -> Amounts:
    base = QUICK if options.quick else Amounts()
    return Amounts(
        sizes=options.sizes or base.sizes,
        rounds=options.rounds or base.rounds,
        calls=options.calls or base.calls,
        workloads=tuple(options.what) or base.workloads,
    )


def _pythons(peers: str, tell: Tell) -> dict[str, str]:
    """The systems of the run, each with the Python that calls it.  Raises `StartError`."""
    names = [name for name in peers.split(",") if name]
    if unknown := set(names) - set(PEERS):
        raise StartError(f"no peer is called {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    if names:
        tell("installing peers")
    return dict.fromkeys(NAMES, sys.executable) | {name: python_of(name) for name in names}


@contextmanager
def _served(embedder: str) -> Iterator[Stage]:
    """A stage with a tenant and both web processes."""
    with Stage(embedder) as stage:
        stage.make_tenant()
        stage.start_web()
        yield stage


def _crowds(stage: Stage, pythons: dict[str, str], size: int) -> AbstractContextManager[Crowds]:
    return crowds(pythons, size, stage.places(), stage.environment(), stage.folder / "logs")

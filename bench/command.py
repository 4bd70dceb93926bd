"""`memgov bench`: measures memgov beside the least that could do the same, on servers of its own.

memgov bench                      write and retrieve, at 1,000, 10,000 and 50,000 memories
memgov bench retrieve --quick     a look in under a minute
memgov bench quality FILE         recall and MRR on a LoCoMo-shaped file
memgov bench --json > out.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bench import conversations, junk_run, report
from bench.callers import Crowds, crowds
from bench.costs import CROWD, QUICK, RETRIEVE, WRITE, Amounts, Costs
from bench.junk import RACERS
from bench.machine import Quiet, machine
from bench.peers import python_of
from bench.stage import Stage
from bench.systems.base import NAMES, PEERS
from memgov.embedded.errors import StartError

COSTS = (WRITE, RETRIEVE)
JUNK = "junk"


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; the exit code."""
    if arguments[:1] == ["quality"]:
        return _quality(_quality_parser().parse_args(arguments[1:]))
    return _costs(_parser().parse_args(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memgov bench",
        description="Measure memgov on servers of its own, in a temporary folder.",
        epilog="`memgov bench quality FILE` measures what retrieval finds; it explains itself with --help.",
    )
    parser.add_argument(
        "what",
        nargs="*",
        choices=(*COSTS, JUNK, []),
        metavar="WHAT",
        help="write, retrieve (both); junk alone",
    )
    parser.add_argument("--sizes", type=_sizes, help="memories of the tenant, such as 1000,10000")
    parser.add_argument("--rounds", type=int, help="blocks of each system per case")
    parser.add_argument("--calls", type=int, help="calls of one block")
    parser.add_argument(
        "--peers",
        nargs="?",
        const=",".join(PEERS),
        default="",
        metavar="NAMES",
        help="and these, installed from PyPI",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few calls: shows that it works")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--patience",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="wait before a block for a quieter machine",
    )
    return parser


def _quality_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memgov bench quality", description="Recall and MRR of retrieval on a LoCoMo-shaped file."
    )
    parser.add_argument("file", type=Path, help="a list of conversations with questions and evidence")
    parser.add_argument("--embedder", default="minilm", help="as MEMGOV_EMBEDDER (minilm)")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(sorted({int(word.replace("_", "")) for word in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError("sizes are numbers with commas between them") from None
    if sizes[0] < 20:
        raise argparse.ArgumentTypeError("a size is at least 20: one memory for each user")
    return sizes


def _amounts(options: argparse.Namespace) -> Amounts:
    base = QUICK if options.quick else Amounts()
    return Amounts(
        sizes=options.sizes or base.sizes,
        rounds=options.rounds or base.rounds,
        calls=options.calls or base.calls,
        workloads=tuple(name for name in options.what if name in COSTS) or base.workloads,
    )


def _pythons(peers: str) -> dict[str, str]:
    """The systems of the run, each with the Python that calls it.  Raises `StartError`."""
    names = [name for name in peers.split(",") if name]
    if unknown := set(names) - set(PEERS):
        raise StartError(f"no peer is called {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    return dict.fromkeys(NAMES, sys.executable) | {name: python_of(name) for name in names}


def _costs(options: argparse.Namespace) -> int:
    amounts = _amounts(options)
    quiet = Quiet(patience=0 if options.quick else options.patience)
    began = time.time()
    result: dict[str, Any] = {"machine": machine(), "amounts": asdict(amounts)}
    with progress() as bar:
        task = bar.add_task("installing" if options.peers else "starting", total=None)
        tell = partial(_told, bar, task)
        pythons = _pythons(options.peers)
        if not options.what or set(options.what) & set(COSTS):
            with _served("hash") as stage, _crowds(stage, pythons, CROWD) as ready:
                costs = Costs(stage, ready, amounts, quiet, tell)
                bar.update(task, total=costs.steps)
                result["costs"] = costs.run()
        elif JUNK in options.what:
            pythons.pop("drf")  # it stores what the floor stores
            with _served("minilm") as stage, _crowds(stage, pythons, RACERS) as ready:
                bar.update(task, total=junk_run.steps(ready))
                result["junk"] = junk_run.run(stage, ready, tell)
    return _finish(result, began, quiet, as_json=options.json)


@contextmanager
def _served(embedder: str) -> Iterator[Stage]:
    """A stage with a tenant and both web processes."""
    with Stage(embedder) as stage:
        stage.make_tenant()
        stage.start_web()
        yield stage


def _crowds(stage: Stage, pythons: dict[str, str], size: int) -> AbstractContextManager[Crowds]:
    return crowds(pythons, size, stage.places(), stage.environment(), stage.folder / "logs")


def _told(bar: Progress, task: TaskID, text: str) -> None:
    bar.update(task, description=text, advance=1)


def _quality(options: argparse.Namespace) -> int:
    try:
        found = conversations.read(options.file)[: options.conversations]
    except conversations.FileRefused as error:
        print(f"memgov: {error}", file=sys.stderr)
        return 2
    began = time.time()
    result: dict[str, Any] = {"machine": machine(), "embedder": options.embedder}
    with progress() as bar, Stage(options.embedder) as stage:
        task = bar.add_task("starting", total=None)
        principal = stage.make_tenant("open")
        from bench.quality import Quality, steps

        bar.update(task, total=steps(found))
        run = Quality(principal, stage.policy, partial(_told, bar, task))
        result["quality"] = run.run(found)
    return _finish(result, began, None, as_json=options.json)


def progress() -> Progress:
    """A bar on standard error, so that standard output can be piped."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _finish(result: dict[str, Any], began: float, quiet: Quiet | None, *, as_json: bool) -> int:
    result["seconds"] = round(time.time() - began)
    if quiet and quiet.busy:
        result["busy"] = quiet.summary()
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        report.show(result, Console(width=None if sys.stdout.isatty() else 200))
    return 0

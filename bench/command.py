"""`memgov bench`: measures memgov beside the least that could do the same, on servers of its own.

memgov bench                      write, retrieve and digest, at 1,000, 10,000 and 50,000 memories
memgov bench retrieve --quick     a look in a minute
memgov bench --peers              and mem0 and LangGraph's store beside them, installed from PyPI
memgov bench junk                 what becomes of duplicates, rivals, secrets, injections
memgov bench sweep                rows per second of decay, expiry, compaction and health
memgov bench preview              seconds to try a policy on all memories of a tenant
memgov bench pages                the browser's pages with 100,000 of everything beside empty ones
memgov bench others               what a million memories of other tenants cost
memgov bench start                cold start and memory
memgov bench year                 a year of simulated life, with sweeps and without
memgov bench quality FILE         recall and MRR on a LoCoMo-shaped file
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import parts, report
from bench.conversations import FileRefused
from bench.costs import COSTS
from bench.machine import Quiet, machine
from bench.systems.base import PEERS

PARTS: dict[str, tuple[parts.Part, str]] = {
    "junk": (parts.junk, "what becomes of duplicates, rivals, secrets and injections"),
    "sweep": (parts.sweep, "rows per second of four sweeps, each beside one bare statement"),
    "preview": (parts.preview, "seconds and memory to try a policy on all memories of a tenant"),
    "pages": (
        parts.pages,
        "first byte of the browser's pages with very much in every queue and with nothing",
    ),
    "others": (parts.others, "the same tenant among few and among very many memories of others"),
    "start": (parts.start, "seconds to start the product, and the memory of its processes"),
    "year": (parts.year, "a year of simulated life under a moved clock, with sweeps and without"),
    "quality": (parts.quality, "recall and MRR of retrieval on a LoCoMo-shaped file"),
}


# The signals that told this process to end.
_told: list[int] = []


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; the exit code."""
    name = arguments[0] if arguments and arguments[0] in PARTS else ""
    part = PARTS[name][0] if name else parts.costs
    options = _parser(name).parse_args(arguments[1:] if name else arguments)
    signal.signal(signal.SIGTERM, _end)
    quiet = Quiet(patience=0 if getattr(options, "quick", False) else getattr(options, "patience", 0.0))
    began = time.time()
    result: dict[str, Any] = {"machine": machine()}
    try:
        with _progress() as bar:
            task = bar.add_task("starting", total=None)

            def tell(text: str, steps: int | None = None) -> None:
                bar.update(
                    task,
                    description=text,
                    advance=1 if steps is None else 0,
                    total=steps or bar.tasks[0].total,
                )

            result |= part(options, quiet, tell)
    except FileRefused as error:
        print(f"memgov: {error}", file=sys.stderr)
        return 2
    except Exception:
        if _told:  # what was cut off on the way out is no fault of its own
            return 128 + _told[0]
        raise
    result["seconds"] = round(time.time() - began)
    if quiet.busy:
        result["busy"] = quiet.summary()
    _print(result, as_json=options.json)
    return 0


def _end(number: int, frame: object) -> None:
    """Leave by the way of an error, so that servers end and the folder goes away."""
    _told.append(number)
    raise SystemExit(128 + number)


def _print(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        report.show(result, Console(width=None if sys.stdout.isatty() else 200))


def _progress() -> Progress:
    """A bar on standard error, so that standard output can be piped."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _parser(name: str) -> argparse.ArgumentParser:
    if not name:
        parser = argparse.ArgumentParser(
            prog="memgov bench",
            description="Measure memgov on servers of its own, in a temporary folder.",
            epilog="Other measurements: "
            + "; ".join(f"{part}: {said}" for part, (_, said) in PARTS.items())
            + ".",
        )
        parser.add_argument(
            "what", nargs="*", choices=(*COSTS, []), metavar="WHAT", help=", ".join(COSTS) + " (all)"
        )
    else:
        parser = argparse.ArgumentParser(prog=f"memgov bench {name}", description=PARTS[name][1])
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    _ADD[name](parser)
    return parser


def _costs_options(parser: argparse.ArgumentParser) -> None:
    _amounts_options(parser, "memories of the tenant, such as 1000,10000")
    parser.add_argument("--quick", action="store_true", help="small sizes, few calls: shows that it works")
    _peers_option(parser)


def _amounts_options(parser: argparse.ArgumentParser, sizes: str) -> None:
    parser.add_argument("--sizes", type=_sizes, help=sizes)
    parser.add_argument("--rounds", type=int, help="blocks of each system per case")
    parser.add_argument("--calls", type=int, help="calls of one block")
    waits = "wait before a block for a quieter machine"
    parser.add_argument("--patience", type=float, default=10.0, metavar="SECONDS", help=waits)


def _peers_option(parser: argparse.ArgumentParser) -> None:
    installed = "and these, installed from PyPI"
    parser.add_argument(
        "--peers", nargs="?", const=",".join(PEERS), default="", metavar="NAMES", help=installed
    )


def _start_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--again", type=int, default=2, metavar="N", help="starts after the first (2)")


def _quality_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a list of conversations with questions and evidence")
    parser.add_argument("--embedder", default="minilm", help="as MEMGOV_EMBEDDER (minilm)")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N")


def _year_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="one tenant, 30 sessions, sweeps once a week")
    parser.add_argument("--seed", type=int, default=7, help="of the story (7)")
    parser.add_argument("--embedder", default="minilm", help="as MEMGOV_EMBEDDER (minilm)")
    parser.add_argument("--draw", type=Path, metavar="FILE.svg", help="draw both columns by month")


_ADD: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "": _costs_options,
    "junk": _peers_option,
    "sweep": lambda parser: _amounts_options(parser, "memories of the tenant (10000,100000)"),
    "preview": lambda parser: _amounts_options(parser, "memories of the tenant (10000,100000)"),
    "pages": lambda parser: _amounts_options(parser, "items in every queue (100000)"),
    "others": lambda parser: _amounts_options(parser, "memories of other tenants (1000,1000000)"),
    "start": _start_options,
    "year": _year_options,
    "quality": _quality_options,
}


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(sorted({int(word.replace("_", "")) for word in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError("sizes are numbers with commas between them") from None
    if sizes[0] < 20:
        raise argparse.ArgumentTypeError("a size is at least 20: one memory for each user")
    return sizes

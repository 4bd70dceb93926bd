"""`memgov audit FILE` without `--import`: reads a file, prints a report. Needs no server, settings or network.

The options are shared with the management command that imports.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from memory.audit.analysis import audit_store
from memory.audit.as_html import as_html
from memory.audit.as_json import as_json
from memory.audit.as_text import as_text
from memory.audit.model import Report
from memory.audit.workers import worker_count
from memory.importers import FORMATS, BadMapping, Options, Reading, Unusable, open_store, read_mapping, weight
from memory.importers.source import Watch

DONE, UNUSABLE = 0, 2
_WORTH_WORKERS: Final = 4 * 1024 * 1024
"""Bytes. Below this starting more processes takes longer than it saves."""
_MOST_MAPPING: Final = 1024 * 1024


def add_options(parser: argparse.ArgumentParser) -> None:
    """The arguments of `memgov audit`."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a memory store's export; gzip and zip are opened"
    )
    parser.add_argument("--format", default="auto", choices=("auto", *FORMATS), metavar="FORMAT",
                        help=f"what the file is, if its content does not tell: {', '.join(FORMATS)}")  # fmt: skip
    parser.add_argument(
        "--mapping", type=Path, help="YAML that says which column or field is which (`text: note`)"
    )
    parser.add_argument(
        "--messages", action="store_true", help="read the conversations in agent files as well"
    )
    parser.add_argument("--json", action="store_true", help="the report as JSON on standard output")
    parser.add_argument(
        "--html", type=Path, metavar="OUT", help="write the report as one self-contained page"
    )
    parser.add_argument(
        "--limit", type=int, default=100, metavar="N", help="rows shown under each heading (100)"
    )
    imports = parser.add_argument_group("importing (needs a running memgov or starts its database)")
    imports.add_argument(
        "--import", dest="importing", action="store_true", help="bring the rows in as candidates"
    )
    imports.add_argument(
        "--tenant", metavar="SLUG", help="the tenant that they come to; tenants named in rows are ignored"
    )
    imports.add_argument("--scope", metavar="S", help="one scope for all rows, such as project:alpha")
    imports.add_argument(
        "--on-conflict",
        choices=("ask", "skip", "replace"),
        default="ask",
        help="a row that gives another value than a live memory: let a person see both (ask), leave it out (skip), or "
        "let it take that one's place (replace; needs --as)",
    )
    imports.add_argument(
        "--as",
        dest="member",
        metavar="EMAIL",
        help="the member of the tenant who imports; to replace values one who may settle contradictions",
    )
    imports.add_argument(
        "--undo",
        action="store_true",
        help="with --import: take back what an import of this file brought in and nobody decided on",
    )
    imports.add_argument("--dry-run", action="store_true", help="say what would happen and store nothing")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options of the reading half."""

    file: Path
    format: str
    mapping: Path | None
    messages: bool
    json: bool
    html: Path | None
    limit: int


def main(arguments: Sequence[str]) -> int:
    """Audit and print; the exit code."""
    parser = argparse.ArgumentParser(
        prog="memgov audit",
        description="How much of a foreign memory store is junk, repeated, stale, contradictory or unsafe, and why.",
        allow_abbrev=False,
    )
    add_options(parser)
    options = vars(parser.parse_args(arguments))
    chosen = Chosen(**{name: options[name] for name in Chosen.__annotations__})
    try:
        tell(audited(chosen), chosen)
    except Unusable as error:
        print(f"memgov audit: {error}", file=sys.stderr)
        return UNUSABLE
    return DONE


def audited(options: Chosen) -> Report:
    """The report on the file of the options, with a progress bar for people. Raises `Unusable`."""
    workers = worker_count() if _size(options.file) >= _WORTH_WORKERS else 1
    with progress(options.file, "reading") as watch:
        return audit_store(reading(options, watch), datetime.now(UTC), workers=workers)


def write_page(report: Report, path: Path) -> None:
    """Write the report as a page. Raises `Unusable` when that is not possible."""
    try:
        path.write_text(as_html(report), encoding="utf-8")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}; the page was not written") from None
    print(f"the page is in {path}", file=sys.stderr)


def tell(report: Report, options: Chosen) -> None:
    """Print the report and write the page. Raises `Unusable` when the page cannot be written."""
    if options.html:
        write_page(report, options.html)
    text = as_json(report) + "\n" if options.json else as_text(report, most=max(options.limit, 0))
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def reading(options: Chosen, watch: Watch | None = None) -> Reading:
    """The file of the options, about to be read. Raises `Unusable`."""
    mapping = None
    if options.mapping:
        try:
            with options.mapping.open("rb") as stream:
                mapping = read_mapping(stream.read(_MOST_MAPPING).decode("utf-8", "replace"))
        except OSError as error:
            raise Unusable(f"{options.mapping}: {error.strerror}") from None
        except BadMapping as error:
            raise Unusable(f"{options.mapping}: {error}") from None
    return open_store(options.file, options.format, options=Options(options.messages, mapping), watch=watch)


@contextmanager
def progress(path: Path, doing: str) -> Iterator[Watch]:
    """A bar on standard error, only where a person looks at it."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(doing, total=_size(path) or None)
        yield lambda size: bar.advance(task, size)


def _size(path: Path) -> int:
    try:
        return weight(path) if path.is_file() else 0
    except OSError:
        return 0

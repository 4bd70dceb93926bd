"""The command `memgov`.  Own commands are here; every other name is a Django management command.

Kept light: Django is imported only by a command that needs it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from memgov.cli import bench, control, delegate, run, up
from memgov.embedded.datadir import default_data_dir
from memgov.embedded.errors import StartError
from memgov.processes.commands import ROLES

INTERRUPTED = 130
OWN_COMMANDS = {"up", "down", "status", "logs", "doctor", "run", "bench"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code.  What goes wrong is one line on standard error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except StartError as error:
        print(f"memgov: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    parser = _parser()
    if len(arguments) > 1 and arguments[0] == "--data-dir":
        os.environ["MEMGOV_DATA_DIR"] = str(Path(arguments[1]).expanduser().absolute())
        arguments = arguments[2:]
    if arguments and arguments[0] == "bench":  # with options of its own
        return bench.run(arguments[1:])
    if arguments and not arguments[0].startswith("-") and arguments[0] not in OWN_COMMANDS:
        return delegate.run(arguments)
    options = parser.parse_args(arguments)
    if getattr(options, "data_dir", None):
        os.environ["MEMGOV_DATA_DIR"] = str(options.data_dir.expanduser().absolute())
    match options.command:
        case "up":
            return up.run(default_data_dir(), options)
        case "down":
            return control.down(default_data_dir())
        case "status":
            return control.status(default_data_dir(), as_json=options.json)
        case "logs":
            return control.logs(default_data_dir(), options.process, follow=options.follow)
        case "doctor":
            return delegate.doctor(as_json=options.json)
        case "run":
            return run.run(options.role, options.host, options.port, default_data_dir())
    parser.print_help()
    return 0 if not arguments else 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memgov",
        description="Governance for the long-term memory of AI agents.",
        epilog="Other commands: "
        + ", ".join(sorted(delegate.known_commands()))
        + ".  Each explains itself with --help.",
    )
    parser.add_argument("--data-dir", type=Path, help="where everything is kept (or MEMGOV_DATA_DIR)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_up(commands.add_parser("up", help="start the whole product on this machine"))
    _add_data_dir(commands.add_parser("down", help="stop it"))
    status = _add_data_dir(commands.add_parser("status", help="what runs, and whether it is ready"))
    status.add_argument("--json", action="store_true")
    logs = _add_data_dir(commands.add_parser("logs", help="the last lines of the processes' logs"))
    logs.add_argument(
        "process", nargs="*", help="web, worker, beat, mcp, postgres, valkey; all when none is named"
    )
    logs.add_argument("-f", "--follow", action="store_true", help="go on showing new lines")
    doctor = _add_data_dir(commands.add_parser("doctor", help="check everything and say how to mend it"))
    doctor.add_argument("--json", action="store_true")
    commands.add_parser("bench", help="measure memgov beside other stores, on servers of its own")
    single = commands.add_parser("run", help="run one process in the foreground (containers)")
    single.add_argument("role", choices=ROLES)
    single.add_argument("--host", default="127.0.0.1")
    single.add_argument("--port", type=int, default=8000)
    return parser


def _add_up(parser: argparse.ArgumentParser) -> None:
    _add_data_dir(parser)
    parser.add_argument(
        "--port", type=int, default=8000, help="of the web pages and REST; MCP takes the next one"
    )
    parser.add_argument("--no-demo", action="store_true", help="do not load the demo tenants")
    parser.add_argument("--detach", action="store_true", help="give the terminal back once it is ready")
    parser.add_argument("--behind-detach", action="store_true", help=argparse.SUPPRESS)


def _add_data_dir(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    # Without a default of its own, so that it does not undo one given before the command.
    parser.add_argument("--data-dir", type=Path, default=argparse.SUPPRESS, help="where everything is kept")
    return parser

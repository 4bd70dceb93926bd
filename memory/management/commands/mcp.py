"""`mcp --stdio`: an MCP server for one agent, for hosts that start their servers themselves."""

from __future__ import annotations

import logging
import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memgov import env
from memory.api.problems import ProblemError
from memory.mcp import stdio
from memory.mcp.credentials import authenticated
from memory.mcp.profiles import checked_options
from memory.mcp.server import new_request_id

KEY_VARIABLE = "MEMGOV_KEY"


class Command(BaseCommand):
    help = (
        "Serve MCP on standard input and output as one agent, whose key stands in the environment variable "
        f"{KEY_VARIABLE} (or in the file that {KEY_VARIABLE}_FILE names). Logs go to standard error."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stdio", action="store_true", help="the only transport of this command")
        parser.add_argument("--profile", choices=("memory", "graph"), default="memory", help="which tools")
        parser.add_argument("--scope", help="graph only: the scope whose memories are the graph")
        parser.add_argument("--origin", help="graph only: the origin of what is written")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["stdio"]:
            raise CommandError(
                "add --stdio; over HTTP the running product serves MCP (`memgov status` says where)"
            )
        given = {name: options[name] for name in ("scope", "origin") if options[name] is not None}
        if given and options["profile"] != "graph":
            raise CommandError(f"--{next(iter(given))} belongs to --profile graph")
        key = env.text(KEY_VARIABLE)
        if not key:
            raise CommandError(f"set {KEY_VARIABLE} to the key of an agent (mgk_…)")
        os.environ.pop(KEY_VARIABLE, None)  # what this process starts has no use for it
        _log_to_standard_error()
        try:
            checked = checked_options(given)
            authenticated(key, new_request_id())
        except ProblemError as error:
            raise CommandError(f"{error.problem.code}: {error.problem.detail}") from None
        stdio.serve("/graph" if options["profile"] == "graph" else "", key, checked)


def _log_to_standard_error() -> None:
    """Whatever was set up: a line on standard output would break the protocol."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stdout:
            handler.setStream(sys.stderr)

"""`memgov audit FILE`: reading a foreign store takes no server, no settings and no Django.

Reached by name like every other part of the product, so that the command line itself stays light.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence


def only_reads(name: str, rest: Sequence[str]) -> bool:
    """Whether this is an audit that imports nothing."""
    return name == "audit" and ("--import" not in rest or "--help" in rest or "-h" in rest)


def run(arguments: Sequence[str]) -> int:
    """Audit a file; the exit code."""
    code: int = importlib.import_module("memory.audit.command").main(list(arguments))
    return code

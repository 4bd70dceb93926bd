"""`memgov bench`: measuring takes servers, settings and tenants of its own, never those of this machine's memgov.

Reached by name, so that the command line itself stays light.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence

from memgov.embedded.errors import StartError


def run(arguments: Sequence[str]) -> int:
    """Measure; the exit code.  Raises `StartError` where it is not installed."""
    if importlib.util.find_spec("bench") is None:
        raise StartError(
            "this installation has no `bench` (the container image leaves it out); use a checkout"
        )
    code: int = importlib.import_module("bench.command").main(list(arguments))
    return code

"""`memgov bench`: measuring takes servers, settings and tenants of its own, never those of this machine's memgov.

Reached by name, so that the command line itself stays light.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Measure; the exit code."""
    code: int = importlib.import_module("bench.command").main(list(arguments))
    return code

"""The profiles by the end of their address: memgov's own tools, and those of the reference memory server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memory.api.problems import stop
from memory.domain.scopes import parse_scope
from memory.domain.types import Origin
from memory.mcp.graph_tools import GRAPH_INSTRUCTIONS, GRAPH_SHOWN, graph_tools
from memory.mcp.server import Profile
from memory.mcp.tools import INSTRUCTIONS, TOOLS

_TOOLS: Final = {tool.shown.name: tool for tool in TOOLS}

PROFILES: Final = {
    "": Profile(
        "memgov",
        "memgov: governed memory",
        INSTRUCTIONS,
        [tool.shown for tool in TOOLS],
        lambda options: _TOOLS,
        has_resources=True,
    ),
    "/graph": Profile(
        "memgov-graph", "memgov: governed memory as a graph", GRAPH_INSTRUCTIONS, GRAPH_SHOWN, graph_tools
    ),
}


def checked_options(given: Mapping[str, str]) -> dict[str, str]:
    """`scope` and `origin` of the graph profile, from an address or a command line.  Raises 400 problems."""
    for name, value in given.items():
        if name not in ("scope", "origin"):
            raise stop(400, "unknown_parameter", f"{name[:100]} is no parameter; there are scope and origin")
        try:
            parse_scope(value) if name == "scope" else Origin(value)
        except ValueError as error:
            raise stop(400, f"invalid_{name}", str(error)[:300], field=name) from None
    return dict(given)

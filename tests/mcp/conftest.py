"""A real MCP process, as it is deployed, on this worker's database; and the official client to talk to it.

Models can only be imported once the settings are read, which is after this file is: hence the look-ups.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.talking import McpProcess

if TYPE_CHECKING:
    from tests.factories import Stage


@pytest.fixture(scope="package")
def mcp_process(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpProcess]:
    """The MCP process of the product."""
    process = McpProcess(tmp_path_factory.mktemp("mcp") / "mcp.log")
    process.start()
    yield process
    process.stop()


def factories() -> Any:
    return importlib.import_module("tests.factories")


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    return factories().make_tenant()


@pytest.fixture
def other(database: None) -> Stage:
    """Another one, as full of rights as the first."""
    return factories().make_tenant(name="Other tenant")

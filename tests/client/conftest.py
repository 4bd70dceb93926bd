"""The client against the product's own web server."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import Web

if TYPE_CHECKING:
    from tests.client.both import Driven
    from tests.factories import Machine, Stage

Connect = Callable[..., Any]


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    made: Stage = importlib.import_module("tests.factories").make_tenant()
    return made


@pytest.fixture(params=["waiting", "awaited"])
def connect(request: pytest.FixtureRequest, web: Web) -> Iterator[Callable[..., Driven]]:
    """`connect(machine)` is that agent's client; each test runs with both clients."""
    both = importlib.import_module("tests.client.both")
    opened: list[Driven] = []

    def connected(machine: Machine, *, url: str = web.url, **options: Any) -> Driven:
        opened.append(both.driven(request.param, url, machine.key_text, **options))
        return opened[-1]

    yield connected
    for one in opened:
        one.close()


@pytest.fixture
def client(connect: Callable[..., Driven], stage: Stage) -> Driven:
    """The coder's client."""
    return connect(stage.coder)

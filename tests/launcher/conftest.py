"""Data directories for the launcher's tests: outside pytest's own, which is closed to a service user."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memgov.embedded.servers import EmbeddedServers
from tests.launcher.launched import Launched, MakeFolder


@pytest.fixture(scope="session")
def new_folder() -> Iterator[MakeFolder]:
    """Makes empty folders that go away at the end."""
    made: list[Path] = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="memgov-launcher-")))
        return made[-1]

    yield make
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def running_product(new_folder: MakeFolder) -> Iterator[tuple[Launched, str]]:
    """A product started from nothing, detached, and what the start printed.  One for the tests that
    leave it running: a start costs seconds."""
    product = Launched(new_folder())
    yield product, product.up_detached()
    product.run("down")


@pytest.fixture(scope="session")
def servers() -> Iterator[EmbeddedServers]:
    """A PostgreSQL and a Valkey that are none of a product's."""
    with EmbeddedServers.temporary() as servers:
        yield servers

"""A running product for the end-to-end tests: started as a newcomer starts it, without the demo."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.launched import Launched


@pytest.fixture(scope="session")
def product() -> Iterator[Launched]:
    """One for all end-to-end tests of a worker; each makes its own tenant."""
    folder = Path(tempfile.mkdtemp(prefix="memgov-story-"))
    launched = Launched(folder)
    launched.up_detached()
    yield launched
    launched.run("down")
    shutil.rmtree(folder, ignore_errors=True)

"""The stages of the page tests, for the same pages in other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import translation

from tests.pages.conftest import (  # noqa: F401
    _plain_static_files,
    full,
    owner,
    reviewer,
    stage,
)


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    """A page leaves its reader's language behind in the thread; the next test begins as a new process does."""
    yield
    translation.deactivate()

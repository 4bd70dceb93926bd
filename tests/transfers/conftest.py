"""The stages of the page tests."""

from __future__ import annotations

from tests.pages.conftest import (  # noqa: F401
    _plain_static_files,
    owner,
    reviewer,
    stage,
)

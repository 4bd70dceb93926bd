"""The stage of the mount tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.factories import Stage


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    from tests.factories import make_tenant  # models: not before the settings are known

    return make_tenant()

"""Who reports: a fresh tenant, and its coder as a caller of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.api.caller import Caller
    from tests.factories import Stage


@pytest.fixture
def stage(database: None) -> Stage:
    from tests.factories import make_tenant  # models can be loaded only when Django is set up

    return make_tenant()


@pytest.fixture
def coder(stage: Stage) -> Caller:
    from tests.api.caller import Caller

    return Caller(stage.coder)

"""What every test of the API starts from.

Models can only be imported once the settings are read, which is after this file is: hence the two look-ups.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.api.caller import Caller
    from tests.factories import Stage


def factories() -> Any:
    return importlib.import_module("tests.factories")


def caller() -> Any:
    return importlib.import_module("tests.api.caller")


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    return factories().make_tenant()


@pytest.fixture
def other(database: None) -> Stage:
    """Another one, as full of rights as the first."""
    return factories().make_tenant(name="Other tenant")


@pytest.fixture
def coder(stage: Stage) -> Caller:
    """The coder's calls."""
    return caller().Caller(stage.coder)


@pytest.fixture
def orchestrator(stage: Stage) -> Caller:
    """The orchestrator's calls."""
    return caller().Caller(stage.orchestrator)


@pytest.fixture
def stranger(other: Stage) -> Caller:
    """The orchestrator of the other tenant: every right there, none here."""
    return caller().Caller(other.orchestrator)


@pytest.fixture
def nobody(database: None) -> Caller:
    """Calls without a key."""
    return caller().Caller(None)

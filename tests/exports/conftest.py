"""Tenants on which everything has happened, and the files that they are exported to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.factories import Stage


@pytest.fixture
def house(database: None) -> Stage:
    """A tenant with rows in every table; its checkpoint, which only stands for one there, made a true one."""
    models = importlib.import_module("memory.models")
    made: Stage = importlib.import_module("tests.full_house").full_house()
    with made.context():
        first = models.AuditEvent.objects.get(seq=1)
        models.AuditCheckpoint.objects.filter(seq=1).update(hash=first.hash)
    return made


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    made: Stage = importlib.import_module("tests.factories").make_tenant()
    return made

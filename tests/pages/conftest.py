"""Stages of the page tests: a tenant with something waiting in every queue, and signed-in browsers.

Models are imported inside the fixtures: pytest reads this file before the root conftest has started the servers
that the settings name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from tests.factories import Stage
    from tests.pages.lived import Lived
    from tests.pages.staging import Full


@pytest.fixture(scope="session", autouse=True)
def _plain_static_files() -> Iterator[None]:
    """Names of files without their hashes: nothing was collected for these tests."""
    from django.test import override_settings

    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    default = "django.core.files.storage.FileSystemStorage"
    with override_settings(STORAGES={"default": {"BACKEND": default}, "staticfiles": {"BACKEND": plain}}):
        yield


@pytest.fixture
def stage(database: None) -> Stage:
    """A fresh tenant."""
    from tests.factories import make_tenant

    return make_tenant()


@pytest.fixture
def full(stage: Stage) -> Full:
    """A fresh tenant with one item in each queue."""
    from tests.pages.staging import fill

    return fill(stage)


@pytest.fixture
def reviewer(stage: Stage) -> Client:
    """A browser in which the reviewer is signed in."""
    from tests.pages.staging import signed_in

    return signed_in(stage.reviewer)


@pytest.fixture
def owner(stage: Stage) -> Client:
    """A browser in which the owner is signed in."""
    from tests.pages.staging import signed_in

    return signed_in(stage.owner)


@pytest.fixture(scope="module")
def lived(database: None) -> Lived:
    """One stage for a file whose tests change nothing: all that pages show and forms act on, and an operator."""
    from tests.factories import make_tenant
    from tests.pages.lived import live
    from tests.pages.staging import fill

    stage = make_tenant()
    stage.owner.user.is_operator = True
    stage.owner.user.save()
    return live(fill(stage))


@pytest.fixture(scope="module")
def browser(lived: Lived) -> Client:
    """A browser in which the owner of that stage is signed in."""
    from tests.pages.staging import signed_in

    return signed_in(lived.full.stage.owner)


@pytest.fixture(scope="module")
def as_deployed() -> Iterator[None]:
    """Demos are on, and an exception is a page as it would be in production."""
    from django.test import override_settings

    with override_settings(MEMGOV_DEMO_SANDBOXES=1, DEBUG_PROPAGATE_EXCEPTIONS=False):
        yield

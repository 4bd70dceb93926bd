"""Real servers for the whole run, and a database of its own for each worker.

The controller starts PostgreSQL and Valkey from the wheels once (unless MEMGOV_TEST_URLS names others),
migrates a template database, and each worker clones it.  Tests really commit; what keeps them apart is that
each makes its own tenant.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile

import django
import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from memgov.embedded.servers import EmbeddedServers
from tests.browser import chromium, open_as, web

# Fixtures of the browser, here once: a second Chromium in one process would find Playwright's loop running.
__all__ = ["chromium", "open_as", "web"]

_TEMPLATE = "memgov_test_template"
_HANDED_ON = "MEMGOV_TEST_URLS"
_started: list[EmbeddedServers] = []


def pytest_configure(config: pytest.Config) -> None:
    """Before Django's settings are read: servers up, a database named, the environment of a test run."""
    if settings.configured:
        raise pytest.UsageError("unset DJANGO_SETTINGS_MODULE: tests choose their own servers and settings")
    if not hasattr(config, "workerinput") and _HANDED_ON not in os.environ:
        servers = EmbeddedServers.temporary().start()
        _started.append(servers)
        os.environ[_HANDED_ON] = json.dumps(
            {"owner": servers.url("owner", "{db}"), "app": servers.url("app", "{db}"),
             "superuser": servers.url("superuser", "{db}"), "redis": servers.redis_url}
        )  # fmt: skip
        if config.getoption("numprocesses", None):
            return  # the workers run the tests, each with settings of its own
    urls = json.loads(os.environ[_HANDED_ON])
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    database = f"memgov_test_{worker}"
    number = int(worker[2:]) + 1 if worker.startswith("gw") else 0
    os.environ.update(
        DATABASE_URL=urls["app"].replace("{db}", database),
        MIGRATION_DATABASE_URL=urls["owner"].replace("{db}", database),
        REDIS_URL=urls["redis"].rsplit("/", 1)[0] + f"/{number % 15}",
        MEMGOV_SECRET_KEY=os.environ.get("MEMGOV_SECRET_KEY") or secrets.token_hex(32),
        MEMGOV_DATA_DIR=os.environ.get("MEMGOV_TEST_DATA_DIR")
        or tempfile.mkdtemp(prefix="memgov-temporary-data-"),
        MEMGOV_EMBEDDER=os.environ.get("MEMGOV_TEST_EMBEDDER", "hash"),
        DJANGO_SETTINGS_MODULE="memgov.settings",
    )
    django.setup()  # pytest-django does it only for settings that were named before this hook


def pytest_unconfigure(config: pytest.Config) -> None:
    for servers in _started:
        servers.stop()


def _template(admin: psycopg.Connection, owner_url: str) -> None:
    """Make and migrate the template once; whoever comes second waits for the first on an advisory lock."""
    from django.core.management import call_command
    from django.db import connections

    if admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_TEMPLATE]).fetchone():
        return
    building = f"{_TEMPLATE}_building"
    admin.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(building)))
    admin.execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE memgov OWNER memgov_owner").format(sql.Identifier(building))
    )
    connection = connections["owner"]
    mine, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], building
    call_command("migrate", database="owner", verbosity=0)
    connection.close()
    connection.settings_dict["NAME"] = mine
    admin.execute(
        sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(building), sql.Identifier(_TEMPLATE))
    )


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """This worker's database, cloned from the migrated template."""
    urls = json.loads(os.environ[_HANDED_ON])
    database = f"memgov_test_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    with psycopg.connect(urls["superuser"].replace("{db}", "postgres"), autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(7346)")
        _template(admin, urls["owner"])
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} (FORCE)").format(sql.Identifier(database)))
        admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER memgov_owner").format(
                sql.Identifier(database), sql.Identifier(_TEMPLATE)
            )
        )
        admin.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO memgov_app").format(sql.Identifier(database)))


@pytest.fixture(scope="session", autouse=True)
def _open_database(request: pytest.FixtureRequest) -> object:
    """Let tests use the database without a wrapping transaction.  Tests that want none never open it:
    connections are made at the first query, and the clone at the first test that asks for `database`."""
    blocker = request.getfixturevalue("django_db_blocker")
    with blocker.unblock():
        yield


@pytest.fixture(scope="session")
def database(django_db_setup: None, _open_database: object) -> None:
    """Ask for this (or a fixture built on it) in tests that use the database."""


@pytest.fixture(scope="session")
def superuser_url() -> str:
    """A superuser on this worker's database: only to set a stage that the product could not set."""
    database = f"memgov_test_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    return json.loads(os.environ[_HANDED_ON])["superuser"].replace("{db}", database)

"""The settings of production: all processes on a PostgreSQL and a Redis that somebody else runs."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from memgov.embedded.servers import EmbeddedServers
from tests.launcher.launched import Launched, MakeFolder, running


@pytest.fixture(scope="module")
def up(
    servers: EmbeddedServers, running_product: tuple[Launched, str], new_folder: MakeFolder
) -> Iterator[Launched]:
    given = Launched(
        new_folder(),
        extra={
            "DATABASE_URL": servers.app_url,
            "MIGRATION_DATABASE_URL": servers.owner_url,
            "REDIS_URL": servers.redis_url,
            "MEMGOV_STATIC_ROOT": str(running_product[0].data_dir / "static"),
        },
    )
    given.up_detached()
    yield given
    given.run("down")


def test_up__servers_given__runs_all_processes_and_no_server(up: Launched) -> None:
    report = up.status()
    assert report["ready"]
    assert set(report["processes"]) == {"web", "mcp", "worker", "beat"}
    assert not (up.data_dir / "pgdata").exists()


def test_up__servers_given__serves_as_the_app_role(up: Launched, servers: EmbeddedServers) -> None:
    assert up.status()["ready"]
    with psycopg.connect(servers.superuser_url) as admin:
        rows = admin.execute(
            "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = 'memgov' AND usename <> current_user"
        ).fetchall()
    assert rows == [("memgov_app",)]


def test_doctor__servers_given__finds_everything_well(up: Launched) -> None:
    examined = up.run("doctor")
    assert examined.returncode == 0, examined.stdout


def test_down__servers_given__leaves_them_running(up: Launched, servers: EmbeddedServers) -> None:
    family = up.family()
    assert len(family) > 5  # the workers of the web process and of the worker too
    assert up.run("down").returncode == 0
    assert running(family) == set()
    assert "SIGABRT" not in (up.data_dir / "logs" / "web.log").read_text()
    assert not (up.data_dir / "runtime.json").exists()
    assert up.run("status").returncode == 3
    assert servers.restart_ended() == []
    with psycopg.connect(servers.app_url) as app:
        assert app.execute("SELECT count(*) > 0 FROM django_migrations").fetchone() == (True,)


def test_up__only_one_server_given__names_the_missing_setting(new_folder: MakeFolder) -> None:
    refused = Launched(new_folder(), extra={"DATABASE_URL": "postgresql://a:b@127.0.0.1:1/c"}).run("up")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("memgov: setting REDIS_URL:")


def test_up__migrations_missing_and_no_owner_given__says_what_is_needed(
    servers: EmbeddedServers, new_folder: MakeFolder
) -> None:
    with psycopg.connect(servers.superuser_url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE memgov_unmigrated OWNER memgov_owner")
    app_only = {
        "DATABASE_URL": servers.url("app", "memgov_unmigrated"),
        "REDIS_URL": servers.redis_url.removesuffix("/0") + "/1",
    }
    unmigrated = Launched(new_folder(), extra=app_only)
    refused = unmigrated.run("up", "--port", str(unmigrated.port))
    assert refused.returncode == 1
    assert "MIGRATION_DATABASE_URL is needed" in refused.stderr

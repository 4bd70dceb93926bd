"""`memgov backup` and `restore-backup`, by their commands on servers of a product's own."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memgov.embedded.servers import EmbeddedServers
from tests.launcher.launched import ROOT, Launched, MakeFolder, wait_until

HASH = {"MEMGOV_EMBEDDER": "hash"}
TABLES = ("tenants_tenant", "tenants_agent", "memory_memory", "memory_writedecision", "memory_auditevent")
DATABASES = "SELECT datname FROM pg_database WHERE datname LIKE 'memgov%%' ORDER BY 1"


@dataclass
class Kept:
    """A backup made beside writes, where it came from, and a key that worked there."""

    file: Path
    product: Launched
    key: str
    written_before: int


def _write(url: str, key: str, text: str) -> int:
    body = json.dumps({"content": text, "scope": "project:alpha"}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/v1/memories", body, headers)) as answer:
        return int(answer.status)


def _admin(data_dir: Path, database: str = "memgov") -> psycopg.Connection[Any]:
    """The superuser of servers that run."""
    note = json.loads((data_dir / "runtime.json").read_text())
    secret = json.loads((data_dir / "passwords.json").read_text())["superuser"]
    port = note["processes"]["postgres"]["port"]
    return psycopg.connect(f"postgresql://memgov_admin:{secret}@127.0.0.1:{port}/{database}", autocommit=True)


@pytest.fixture(scope="module")
def kept(new_folder: MakeFolder) -> Iterator[Kept]:
    product = Launched(new_folder(), extra=HASH)
    product.up_detached()
    url = f"http://127.0.0.1:{product.port}"
    assert product.run("tenant", "create", "kept", "--owner", "owner@kept.example").returncode == 0
    made = product.run("agent", "create", "--tenant", "kept", "--name", "writer", "--role", "writer",
                       "--grant", "project:alpha=rw", "--json")  # fmt: skip
    key = json.loads(made.stdout)["key"]
    for number in range(20):
        _write(url, key, f"The {number}th shelf of the north hall holds {number * 7} crates.")
    assert product.run("sweep", "chain").returncode == 0
    stop, written = threading.Event(), []

    def go_on() -> None:
        while not stop.is_set():
            written.append(
                _write(url, key, f"Ledger line {len(written)} closes at {len(written) * 3} marks.")
            )

    writer = threading.Thread(target=go_on)
    writer.start()
    file = new_folder() / "kept.backup"
    try:
        done = product.run("backup", str(file))
    finally:
        stop.set()
        writer.join()
    assert done.returncode == 0, done.stderr
    assert len(written) > 3 and set(written) <= {201, 200, 202}, "it did not run beside writes"
    yield Kept(file, product, key, 20)
    product.run("down")


def _restored(kept: Kept, folder: Path, *more: str) -> tuple[Launched, subprocess.CompletedProcess[str]]:
    shutil.copy(kept.product.data_dir / "secret_key", folder / "secret_key")
    place = Launched(folder, extra=HASH)
    return place, place.run("restore-backup", str(kept.file), *more)


def test_backup__beside_writes__restored_elsewhere_is_the_same_and_serves(
    kept: Kept, new_folder: MakeFolder
) -> None:
    place, done = _restored(kept, new_folder())
    assert done.returncode == 0, done.stderr
    assert "kept: the chain holds" in done.stdout and "WARNING" not in done.stderr
    with EmbeddedServers(place.data_dir) as servers, psycopg.connect(servers.superuser_url) as there:
        with _admin(kept.product.data_dir) as here:
            for table in TABLES:
                rows = {row[0] for row in there.execute(f"SELECT t::text FROM {table} t")}
                source = {row[0] for row in here.execute(f"SELECT t::text FROM {table} t")}
                assert rows, table
                if table == "memory_memory":
                    assert kept.written_before <= len(rows) < len(source), (
                        "the writes went on after the snapshot"
                    )
                if table != "tenants_agent":  # when it was last seen goes on
                    assert rows <= source, table
            secured = "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE relkind IN ('r', 'p')"
            assert set(there.execute(secured)) >= {row for row in here.execute(secured) if row[2]}
        assert there.execute(DATABASES).fetchall() == [("memgov",)]
    assert place.run("verify-audit").returncode == 0
    try:
        place.up_detached()
        assert _write(f"http://127.0.0.1:{place.port}", kept.key, "The south hall opens at nine.") == 201
    finally:
        place.run("down")


def test_restore__file_that_is_not_whole_or_was_changed__refused(kept: Kept, new_folder: MakeFolder) -> None:
    folder = new_folder()
    whole = kept.file.read_bytes()
    cut, flipped, resealed, newer = (folder / name for name in ("cut", "flipped", "resealed", "newer"))
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    middle = len(whole) // 2
    flipped.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    _changed(kept.file, resealed, lambda said: said.update(tenants=7))
    _changed(kept.file, newer, lambda said: said["migrations"]["memory"].append("9999_later"))
    for file, why in (
        (cut, "no whole backup"),
        (flipped, "damaged"),
        (resealed, "seal"),
        (newer, "newer memgov"),
    ):
        place = Launched(new_folder(), extra=HASH)
        shutil.copy(kept.product.data_dir / "secret_key", place.data_dir / "secret_key")
        done = place.run("restore-backup", str(file))
        assert done.returncode == 1 and why in done.stderr and "Traceback" not in done.stderr, done.stderr


def _changed(source: Path, target: Path, change: Any) -> None:
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name == "manifest.json":
                said = json.loads(data)
                change(said)
                data = json.dumps(said).encode()
            after.writestr(name, data)


def test_restore__other_key_or_tenants_there__warns_and_asks(kept: Kept, new_folder: MakeFolder) -> None:
    place = Launched(new_folder(), extra=HASH)
    assert place.run("tenant", "create", "present", "--owner", "owner@present.example").returncode == 0
    refused = place.run("restore-backup", str(kept.file))
    assert refused.returncode == 1 and "has 1 tenants; --replace" in refused.stderr
    unsure = place.run("restore-backup", str(kept.file), "--replace")
    assert unsure.returncode == 1 and "nothing was changed" in unsure.stderr
    assert "present" in place.run("tenant", "list").stdout
    done = place.run("restore-backup", str(kept.file), "--replace", "--yes")
    assert done.returncode == 0 and "WARNING: MEMGOV_SECRET_KEY is another" in done.stderr, done.stderr
    listed = place.run("tenant", "list").stdout
    assert "kept" in listed and "present" not in listed


def test_restore__product_runs__refused(kept: Kept) -> None:
    refused = kept.product.run("restore-backup", str(kept.file), "--replace", "--yes")
    assert refused.returncode == 1 and "memgov down" in refused.stderr


def test_backup__killed__leaves_no_file_of_its_name_and_runs_again(
    kept: Kept, new_folder: MakeFolder
) -> None:
    target = new_folder() / "second.backup"
    part = target.with_name("second.backup.part")
    with _admin(kept.product.data_dir) as admin, admin.transaction():
        admin.execute("LOCK TABLE memory_policyversion IN ACCESS EXCLUSIVE MODE")  # pg_dump waits for it
        running = subprocess.Popen(kept.product.command("backup", str(target)), cwd=ROOT,
                                   env=kept.product.environment(), stderr=subprocess.DEVNULL)  # fmt: skip
        wait_until(part.exists, 30, "the backup begins")
        time.sleep(0.5)
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert not target.exists() and part.exists()
    done = kept.product.run("backup", str(target), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tenants"] == 1 and not part.exists()
    assert "there already" in kept.product.run("backup", str(target)).stderr


def test_backup__no_room_or_no_rights__said_plainly_and_nothing_left(
    kept: Kept, new_folder: MakeFolder
) -> None:
    folder = new_folder()
    command = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *kept.product.command("backup", str(folder / "f"))]
    limited = subprocess.run(
        command, cwd=ROOT, env=kept.product.environment(), capture_output=True, text=True, check=False
    )
    assert (
        limited.returncode == 1 and "File too large" in limited.stderr and "Traceback" not in limited.stderr
    )
    assert list(folder.iterdir()) == []
    nowhere = kept.product.run("backup", str(folder / "no" / "f"))
    assert nowhere.returncode == 1 and "No such file" in nowhere.stderr
    note = json.loads((kept.product.data_dir / "runtime.json").read_text())
    weak = Launched(kept.product.data_dir, extra={**HASH, "MEMGOV_ADMIN_DATABASE_URL": note["owner_url"]})
    refused = weak.run("backup", str(folder / "f"))
    assert refused.returncode == 1 and "sees no rows past row-level security" in refused.stderr
    assert list(folder.iterdir()) == []


def test_restore__killed_before_or_after_the_renames__run_again_ends_right(
    kept: Kept, new_folder: MakeFolder
) -> None:
    place = Launched(new_folder(), extra=HASH)
    shutil.copy(kept.product.data_dir / "secret_key", place.data_dir / "secret_key")
    arguments = ("restore-backup", str(kept.file))
    running = subprocess.Popen(place.command(*arguments), cwd=ROOT, env=place.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    wait_until((place.data_dir / "runtime.json").exists, 60, "the servers run")
    admin = _admin(place.data_dir, "postgres")
    wait_until(lambda: len(admin.execute(DATABASES).fetchall()) > 1, 60, "the restore begins")
    running.send_signal(signal.SIGKILL)
    running.wait()
    admin.close()
    assert place.run(*arguments).returncode == 0
    seal = zipfile.ZipFile(kept.file).read("manifest.json")
    mark = f"memgov: restored from a backup with seal {json.loads(seal)['seal']}, to be finished"
    with EmbeddedServers(place.data_dir) as servers, psycopg.connect(servers.superuser_url) as admin:
        admin.autocommit = True
        assert admin.execute(DATABASES).fetchall() == [("memgov",)]
        admin.execute(f"COMMENT ON DATABASE memgov IS '{mark}'")
        admin.execute("CREATE DATABASE memgov_replaced")
    again = place.run(*arguments)
    assert again.returncode == 0 and "finishing" in again.stdout, again.stderr
    with EmbeddedServers(place.data_dir) as servers, psycopg.connect(servers.superuser_url) as admin:
        assert admin.execute(DATABASES).fetchall() == [("memgov",)]
    assert place.run(*arguments).returncode == 1, "the next time it is a database with tenants"


def test_backup__on_servers_of_ones_own_and_of_an_older_memgov__restored_and_migrated(
    servers: EmbeddedServers, new_folder: MakeFolder
) -> None:
    urls = {
        "DATABASE_URL": servers.app_url,
        "MIGRATION_DATABASE_URL": servers.owner_url,
        "REDIS_URL": servers.redis_url,
    }
    place = Launched(new_folder(), extra={**HASH, **urls, "MEMGOV_ADMIN_DATABASE_URL": servers.superuser_url})
    file, applied = new_folder() / "old.backup", "SELECT count(*) FROM django_migrations WHERE app = 'memory'"

    def migrated(*to: str) -> int:
        command = [sys.executable, "manage.py", "migrate", "--database", "owner", "-v0", *to]
        environment = {**place.environment(), "MEMGOV_DATA_DIR": str(place.data_dir)}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=180)
        with psycopg.connect(servers.superuser_url) as admin:
            return int((admin.execute(applied).fetchone() or [0])[0])

    before = migrated("memory", "0020")
    done = place.run("backup", str(file))
    assert done.returncode == 0, done.stderr
    assert migrated() > before
    assert place.run("tenant", "create", "later", "--owner", "owner@later.example").returncode == 0
    with psycopg.connect(servers.app_url):
        busy = place.run("restore-backup", str(file), "--replace", "--yes")
    assert busy.returncode == 1 and "the database memgov is in use (1)" in busy.stderr
    done = place.run("restore-backup", str(file), "--replace", "--yes")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(servers.superuser_url) as admin:
        assert (admin.execute(applied).fetchone() or [0])[0] == len(
            list((ROOT / "memory/migrations").glob("0*.py"))
        )
        assert admin.execute("SELECT count(*) FROM tenants_tenant").fetchone() == (0,)
    assert place.run("tenant", "create", "again", "--owner", "owner@later.example").returncode == 0

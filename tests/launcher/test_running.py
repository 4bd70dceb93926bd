"""`memgov up --detach`, and what is said and done while it runs."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import psycopg
import pytest

from tests.launcher.launched import Launched, MakeFolder, kill, running, seconds_to_ready, wait_until

EVERY_PROCESS = {"postgres", "valkey", "web", "mcp", "worker", "beat"}


@pytest.fixture
def up(running_product: tuple[Launched, str]) -> Launched:
    return running_product[0]


def test_up__empty_folder__is_ready_and_says_how_to_go_on(running_product: tuple[Launched, str]) -> None:
    product, printed = running_product
    assert 0 < seconds_to_ready(printed) < 120  # 40 are promised where nothing else runs
    assert f"http://127.0.0.1:{product.port}" in printed
    assert f"--data-dir {product.data_dir} tenant create" in printed


def test_status__running__names_every_process(up: Launched) -> None:
    report = up.status()
    assert (report["running"], report["ready"]) == (True, True)
    assert set(report["processes"]) == EVERY_PROCESS
    assert all(process["alive"] and process["restarts"] == 0 for process in report["processes"].values())


def test_up__already_running__told_so_in_one_line(up: Launched) -> None:
    second = up.run("up", "--port", str(up.port))
    assert second.returncode == 3
    assert second.stdout == ""
    assert second.stderr.count("\n") == 1
    supervisor = up.runtime()["supervisor_pid"]
    assert f"already running (pid {supervisor}, memgov up, http://127.0.0.1:{up.port})" in second.stderr
    assert up.status()["ready"]


@pytest.mark.parametrize("offset", [0, -1], ids=["web", "mcp"])
def test_up__port_taken__named_before_anything_starts(
    up: Launched, new_folder: MakeFolder, offset: int
) -> None:
    other = Launched(new_folder(), port=up.port + offset)
    refused = other.run("up", "--port", str(other.port))
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"port {up.port} " in refused.stderr
    assert not (other.data_dir / "pgdata").exists()


def test_doctor__running__finds_everything_well(up: Launched) -> None:
    examined = up.run("doctor", "--json")
    report = json.loads(examined.stdout)
    assert (examined.returncode, report["ok"]) == (0, True), report
    assert {check["check"] for check in report["checks"]} >= {
        "database",
        "roles",
        "row-level security",
        "worker",
    }


def test_doctor__row_level_security_taken_off__names_the_table_and_the_remedy(
    up: Launched,
) -> None:
    with psycopg.connect(up.runtime()["owner_url"], autocommit=True) as owner:
        owner.execute("ALTER TABLE memory_memory NO FORCE ROW LEVEL SECURITY")
        try:
            examined = up.run("doctor")
        finally:
            owner.execute("ALTER TABLE memory_memory FORCE ROW LEVEL SECURITY")
    assert examined.returncode == 1
    wrong = [line for line in examined.stdout.splitlines() if line.startswith("FAIL")]
    assert len(wrong) == 1
    assert "memory_memory" in wrong[0]
    assert "FORCE ROW LEVEL SECURITY" in examined.stdout


def test_secrets__on_disk__are_for_their_owner_only(up: Launched) -> None:
    folder = up.data_dir
    private = ["passwords.json", "runtime.json", "secret_key", "lock", "logs/web.log", "logs/postgres.log"]
    modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in private}
    assert modes == dict.fromkeys(private, 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) & 0o007 == 0


def test_logs__running__show_lines_with_their_process(up: Launched) -> None:
    shown = up.run("logs", "web", "valkey")
    prefixes = {line.split("|")[0].strip() for line in shown.stdout.splitlines()}
    assert prefixes == {"web", "valkey"}


@pytest.mark.parametrize("name", ["worker", "beat", "mcp", "web", "valkey", "postgres"])
def test_process__killed__is_started_again(up: Launched, name: str) -> None:
    before = up.runtime()["processes"][name]
    kill(before["pid"])

    def is_back() -> bool:
        now = up.runtime()["processes"][name]
        return bool(now["restarts"] > before["restarts"] and running({now["pid"]}))

    wait_until(is_back, 30, f"{name} started again")
    assert up.runtime()["processes"][name]["port"] == before["port"]


def test_readiness__after_all_were_killed_once__is_back(up: Launched) -> None:
    wait_until(lambda: up.status()["ready"], 40, "ready again")


def test_down__not_running__says_so(new_folder: MakeFolder) -> None:
    said = Launched(new_folder()).run("down")
    assert (said.returncode, said.stderr) == (0, "")
    assert "not running" in said.stdout
    assert Path(said.args[4]).exists()

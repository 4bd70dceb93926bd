"""`memgov` itself: light, and right about which commands need servers."""

from __future__ import annotations

import json
import subprocess
import sys

import psycopg
import pytest
from django.core.management import get_commands

from memgov.cli import delegate
from memgov.embedded.servers import EmbeddedServers
from tests.launcher.launched import ROOT, Launched, MakeFolder, clean_environment


@pytest.mark.parametrize(
    ("name", "rest", "needed"),
    [
        ("sweep", ["expiry"], True),
        ("sweep", ["--help"], False),
        ("audit", ["memories.txt"], False),
        ("audit", ["memories.txt", "--import", "--tenant", "demo"], True),
        ("check", ["starter"], True),
        ("check", ["cases.yaml", "--url", "https://memgov.example", "--key", "k"], False),
        ("check", ["cases.yaml", "--url=https://memgov.example"], False),
    ],
)
def test_command__servers__only_where_needed(name: str, rest: list[str], needed: bool) -> None:
    assert delegate.needs_servers(name, rest) is needed


def test_commands__none_takes_the_place_of_one_of_djangos() -> None:
    djangos = {name for name, app in get_commands().items() if app == "django.core"}
    assert "check" in djangos and djangos.isdisjoint(delegate.known_commands().values())
    assert delegate.known_commands()["check"] == "check_memory"


def test_command_line__imported__brings_no_framework() -> None:
    heavy = "{'django', 'celery', 'numpy', 'rest_framework'}"
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, memgov.cli; print(sorted({heavy} & set(sys.modules)))"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"


def test_command__unknown__one_line_and_nothing_started(new_folder: MakeFolder) -> None:
    product = Launched(new_folder())
    refused = product.run("swep", "expiry")
    assert refused.returncode == 1
    assert refused.stderr == "memgov: no command is called 'swep'; `memgov --help` lists them\n"
    assert list(product.data_dir.iterdir()) == []


def test_help__asked_for__lists_own_and_other_commands(new_folder: MakeFolder) -> None:
    shown = Launched(new_folder()).run("--help").stdout
    assert all(name in shown for name in ("up", "down", "status", "doctor", "logs"))


def test_command__no_server_running__brings_its_own_and_leaves_none(new_folder: MakeFolder) -> None:
    product = Launched(new_folder())
    made = product.run("tenant", "create", "launched", "--owner", "owner@launched.example", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["tenant"] == "launched"
    assert product.run("status").returncode == 3
    assert not (product.data_dir / "runtime.json").exists()
    with EmbeddedServers(product.data_dir) as servers, psycopg.connect(servers.superuser_url) as admin:
        assert admin.execute("SELECT slug FROM tenants_tenant").fetchall() == [("launched",)]

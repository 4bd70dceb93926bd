"""The container files, read as data: no engine is needed to see that they keep their promises."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import yaml

from memgov.embedded.binaries import postgres_programs
from memgov.embedded.servers import EmbeddedServers
from memgov.processes.commands import ROLES
from tests.launcher.launched import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {*ROLES, "migrate"}
LONG_RUNNING = {*ROLES, "db", "redis"}
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:\?[^}]+|:-[^}]*)?\}")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, rest of the logical line)."""
    joined = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def test_compose__services__are_those_of_the_product() -> None:
    assert set(SERVICES) == OURS | {"db", "redis"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_compose__every_service__is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "/tmp" in service["tmpfs"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert "user" in service or name in OURS  # ours name theirs in the image


@pytest.mark.parametrize("name", sorted(LONG_RUNNING))
def test_compose__every_long_running_service__has_a_health_check(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]


@pytest.mark.parametrize("name", ROLES)
def test_compose__every_process__runs_by_its_own_command_after_the_migration(name: str) -> None:
    service = SERVICES[name]
    assert service["command"][:3] == ["memgov", "run", name]
    assert service["healthcheck"]["test"][-1] == name
    conditions = {other: on["condition"] for other, on in service["depends_on"].items()}
    assert conditions == {
        "db": "service_healthy",
        "redis": "service_healthy",
        "migrate": "service_completed_successfully",
    }


def test_compose__owner_of_the_tables__is_known_only_where_migrations_run() -> None:
    knowing = {name for name in OURS if "MIGRATION_DATABASE_URL" in SERVICES[name]["environment"]}
    assert knowing == {"migrate"}
    assert all("memgov_app:" in SERVICES[name]["environment"]["DATABASE_URL"] for name in OURS)


def test_compose__database_and_broker__are_not_reachable_from_outside() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    for name in ("db", "redis"):
        assert SERVICES[name]["networks"] == ["inside"]
        assert "ports" not in SERVICES[name]
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_compose__variables__are_required_or_have_a_default_and_the_example_names_them() -> None:
    found = dict(VARIABLE.findall((ROOT / "docker-compose.yml").read_text()))
    assert all(found.values()), f"without :? or :-: {[name for name, rule in found.items() if not rule]}"
    example = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / "deploy" / "example.env").read_text(), re.MULTILINE))
    assert set(found) == example
    assert {name for name, rule in found.items() if rule.startswith(":?")} >= {
        "MEMGOV_SECRET_KEY",
        "POSTGRES_PASSWORD",
    }


def test_compose__files_mounted_from_here__exist() -> None:
    mounted = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    files = [path for path in mounted if path.startswith("./")]
    assert len(files) == 2
    assert all((ROOT / path).is_file() for path in files)


def test_dockerfile__final_stage__runs_without_root_and_installs_only_the_lock() -> None:
    stages = [rest for word, rest in instructions() if word == "FROM"]
    assert len(stages) == 2
    assert all(re.fullmatch(r"python:\d+\.\d+-slim-\w+( AS build)?", stage) for stage in stages)
    last = instructions()[max(number for number, (word, _) in enumerate(instructions()) if word == "FROM") :]
    assert [rest for word, rest in last if word == "USER"] == ["10001:10001"]
    assert any(word == "HEALTHCHECK" for word, _ in last)
    assert not any("pip install" in rest for word, rest in last if word == "RUN")
    installs = re.findall(
        r"pip install[^&]*", " ".join(rest for word, rest in instructions() if word == "RUN")
    )
    assert all("--require-hashes" in install or "--no-deps" in install for install in installs)


def test_dockerfile__secrets__are_not_in_it() -> None:
    assert not [
        rest
        for word, rest in instructions()
        if word in {"ENV", "ARG"} and re.search("SECRET|PASSWORD|KEY", rest)
    ]


def test_dockerignore__git_and_environments__stay_outside() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    copied = {line[1:] for line in lines if line.startswith("!")}
    assert copied >= {"memgov", "memory", "tenants", "templates", "static", "manage.py", "pyproject.toml"}
    assert not copied & {".git", ".env", ".venv", "tests", "deploy"}


@pytest.fixture
def servers() -> Iterator[EmbeddedServers]:
    """Its own, because roles belong to the whole server and the script changes their passwords."""
    with EmbeddedServers.temporary() as servers:
        yield servers


def test_db_init__on_a_new_database__makes_roles_that_can_sign_in(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.superuser_url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE container_database")
    address = psycopg.conninfo.conninfo_to_dict(servers.superuser_url)
    tools = postgres_programs(servers.data_dir, None)
    subprocess.run(
        ["sh", str(ROOT / "deploy" / "db-init.sh")],
        check=True,
        env={
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PGHOST": "127.0.0.1",
            "PGPORT": str(address["port"]),
            "PGPASSWORD": str(address["password"]),
            "POSTGRES_USER": str(address["user"]),
            "POSTGRES_DB": "container_database",
            "MEMGOV_OWNER_PASSWORD": "owner's word",
            "MEMGOV_APP_PASSWORD": 'app"s word',
            "MEMGOV_ROLES_SQL": str(ROOT / "memgov" / "embedded" / "roles.sql"),
        },
    )
    place = {"host": "127.0.0.1", "port": address["port"], "dbname": "container_database"}
    with psycopg.connect(**place, user="memgov_owner", password="owner's word") as owner:
        owner.execute("CREATE TABLE made_by_owner (embedding halfvec(3))")
    with psycopg.connect(**place, user="memgov_app", password='app"s word') as app:
        assert app.execute("SELECT count(*) FROM made_by_owner").fetchone() == (0,)

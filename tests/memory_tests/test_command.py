"""`memgov check` as it is called: exit codes, lines, JUnit, annotations, a running server, leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from django.core.management import call_command

from memgov import clock
from memory.models import Memory
from memory.services import tenancy
from memory.testing.world import TENANT_NAME, clear_leftovers
from tenants.models import Tenant
from tests.browser import Web
from tests.factories import Stage, make_agent, make_tenant

ROOT = Path(__file__).resolve().parents[2]
FACT = "{content: The press halls open at seven., scope: 'project:alpha', origin: tool_verified}"
GOOD = f"- name: good\n  layer: write\n  steps:\n  - write: {FACT}\n    expect: {{outcome: stored}}\n"
BAD = f"- name: 'bad, with 100%: and ::error::'\n  steps:\n  - write: {FACT}\n    expect: {{outcome: held}}\n"
SKIPPED = f"- name: later\n  skip: not now\n  steps:\n  - write: {FACT}\n"


@dataclass(frozen=True)
class Done:
    """How a call ended."""

    returncode: int
    stdout: str
    stderr: str


def check(*arguments: str, **environment: str) -> Done:
    """The command inside this process: to start one takes longer than most cases."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GITHUB_ACTIONS", "MEMGOV_KEY"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            call_command("check_memory", *arguments, stdout=out, stderr=err)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def typed(*arguments: str, **environment: str) -> Done:
    """The command as it is typed, on this worker's servers."""
    done = subprocess.run(
        [sys.executable, "-m", "memgov.cli", "check", *arguments],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Writes a file of cases; its path."""

    def made(*cases: str, name: str = "cases.yaml") -> str:
        path = tmp_path / name
        path.write_text("version: 1\ncases:\n" + "".join(cases))
        return str(path)

    return made


def test_all_good__exit_0(database: None, write: Any) -> None:
    done = typed(write(GOOD, SKIPPED))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 skipped" in done.stdout and "not now" in done.stdout


def test_failure__exit_1_with_line_junit_and_annotation(database: None, write: Any, tmp_path: Path) -> None:
    path, out = write(GOOD, BAD, SKIPPED), tmp_path / "out.xml"
    done = check(path, "--junit", str(out), GITHUB_ACTIONS="true")
    assert done.returncode == 1
    assert f"{path}:10 outcome is stored, expected held" in done.stdout
    annotation = next(line for line in done.stdout.splitlines() if line.startswith("::error "))
    assert annotation == (
        f"::error file={path},line=10,title=bad%2C with 100%25%3A and %3A%3Aerror%3A%3A::"
        "outcome is stored, expected held"
    )
    suite = Xml.parse(out).getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    assert suite[1].find("failure") is not None and suite[2].find("skipped") is not None


def test_junit__cannot_be_written__exit_2(database: None, write: Any, tmp_path: Path) -> None:
    done = check(write(GOOD), "--junit", str(tmp_path / "no" / "out.xml"))
    assert done.returncode == 2 and "cannot be written" in done.stderr and "Traceback" not in done.stderr


def test_owner__not_given__exit_2_and_no_tenant_made(database: None, write: Any) -> None:
    before = Tenant.objects.count()
    done = typed(write(GOOD), MIGRATION_DATABASE_URL=os.environ["DATABASE_URL"])
    assert done.returncode == 2 and "MIGRATION_DATABASE_URL" in done.stderr
    assert Tenant.objects.count() == before


def test_broken_file__exit_2_and_nothing_runs(database: None, write: Any) -> None:
    broken = write("- name: odd\n  steps:\n  - wriet: {}\n", name="broken.yaml")
    done = check(write(GOOD), broken, "--github")
    assert done.returncode == 2
    assert f"{broken}:5: unknown_field" in done.stderr and "nothing was run" in done.stderr
    assert "::error " in done.stdout and "good" not in done.stdout


@pytest.mark.parametrize("arguments", [["no_such_file.yaml"], [], ["starter", "--only", "no such case"]])
def test_nothing_to_run__exit_2(database: None, arguments: list[str]) -> None:
    done = check(*arguments)
    assert done.returncode == 2 and done.stderr.strip() and "Traceback" not in done.stderr


def test_choosing__by_layer_and_words(database: None, write: Any) -> None:
    assert check(write(GOOD, BAD), "--layer", "write").returncode == 0
    listed = check("starter", "--layer", "mounting", "--list", "--only", "another tenant").stdout.splitlines()
    assert len(listed) == 1 and listed[0].startswith("starter/mounting.yaml:")


def test_schema__is_printed_without_servers() -> None:
    done = typed(
        "--schema", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none", REDIS_URL="redis://127.0.0.1:1/0"
    )
    assert done.returncode == 0 and '"memgov memory tests"' in done.stdout


def test_leftovers__of_a_killed_run__go_after_a_day_and_nobody_elses(database: None) -> None:
    with clock.moved_to(clock.now() - timedelta(days=2)):
        old = tenancy.tenant_create("check-0123456789abcdef", TENANT_NAME)
        named_alike = tenancy.tenant_create("check-in-desk", TENANT_NAME)
        slug_alike = tenancy.tenant_create("check-fedcba9876543210", "Somebody")
    young = tenancy.tenant_create("check-00000000aaaaaaaa", TENANT_NAME)
    assert clear_leftovers() == 1
    left = set(Tenant.objects.values_list("id", flat=True))
    assert old.id not in left and {named_alike.id, slug_alike.id, young.id} <= left


def remote_agent(stage: Stage) -> str:
    return make_agent(stage.tenant, "tester", ["project:alpha=rwp"]).key_text


def test_server__cases_of_one_agent_run_and_clean_up(database: None, web: Web, write: Any) -> None:
    stage = make_tenant()
    session = (
        f"- name: of a session\n  steps:\n  - write: {FACT.replace('project:alpha', 'session:s1')}\n    session: s1\n"
        "    as: fact\n    expect: {outcome: stored, memory: {scope: 'session:s1'}}\n"
        "  - retrieve: {query: press halls}\n    session: s1\n    expect: {injected: [fact]}\n"
        "  expect: {stored: [{memory: fact, status: live}]}\n"
    )
    inside = f"- name: of a clock\n  steps:\n  - write: {FACT}\n  - advance: 40d\n"
    other = f"- name: of others\n  agents: {{a: {{role: coder}}}}\n  steps:\n  - write: {FACT}\n"
    path = write(GOOD, session, inside, other, BAD)
    key = remote_agent(stage)
    done = check(path, "--url", web.url, "--key", key, "--jobs", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 passed, 1 failed, 2 skipped" in done.stdout
    assert "advance needs a throw-away tenant" in done.stdout and "--role coder" in done.stdout
    again = check(path, "--url", web.url, "--only", "of a", MEMGOV_KEY=key)
    assert again.returncode == 0, again.stdout
    with stage.context():
        assert set(Memory.objects.values_list("status", flat=True)) == {"deleted"}


@pytest.mark.parametrize("more", [[], ["--key", "mgk_wrong"]])
def test_server__not_to_be_used__exit_2(database: None, web: Web, write: Any, more: list[str]) -> None:
    done = check(write(GOOD), "--url", web.url, *more)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr.strip()
    assert check(write(GOOD), "--url", "http://127.0.0.1:1", "--key", "mgk_x").returncode == 2

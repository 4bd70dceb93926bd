"""The adapters against the real frameworks, each in an environment where they are installed, and this product.

Those environments are apart because the frameworks are large and want other releases than the server does. The script
makes them when they are missing.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Web
from tests.client.staged import staged

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "client" / "tests"
ENVIRONMENTS = {
    "test_anthropic.py": "agents",
    "test_langgraph.py": "agents",
    "test_adk.py": "agents",
    "test_tracing.py": "agents",
    "test_story_agents.py": "agents",
    "test_crewai.py": "crewai",
    "test_story_crewai.py": "crewai",
    "test_story_client.py": "oldest",
}
OLDEST = ("test_story_client.py", "test_anthropic.py")
"""What runs on the oldest Python: the client alone, and the adapters whose frameworks still do."""


@pytest.fixture(scope="module")
def environments() -> None:
    """Both environments, made now if need be."""
    done = subprocess.run(
        ["sh", "scripts/client_environments.sh"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def stage_server(web: Web) -> Iterator[str]:
    """Where those tests get their tenants."""
    with staged(web.url) as url:
        yield url


def test_every_file__has_an_environment() -> None:
    assert {path.name for path in FOLDER.glob("test_*.py")} == set(ENVIRONMENTS)


@pytest.mark.parametrize("name", [one for one, place in ENVIRONMENTS.items() if place != "oldest"])
def test_adapter(name: str, environments: None, stage_server: str) -> None:
    _run(name, ENVIRONMENTS[name], stage_server)


@pytest.mark.parametrize("name", OLDEST)
def test_oldest_python(name: str, environments: None, stage_server: str) -> None:
    if not (ROOT / "client" / ".venvs" / "oldest").exists():
        pytest.skip("no Python 3.10 here; PYTHON310 names one")
    _run(name, "oldest", stage_server)


def _run(name: str, environment: str, stage_server: str) -> None:
    python = ROOT / "client" / ".venvs" / environment / "bin" / "python"
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=FOLDER,
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "MEMGOV_TEST_STAGE": stage_server,
            "CREWAI_DISABLE_TELEMETRY": "true",
            "OTEL_SDK_DISABLED": "false" if name == "test_tracing.py" else "true",
        },
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert re.search(r"\d+ passed", done.stdout) and "skipped" not in done.stdout, done.stdout

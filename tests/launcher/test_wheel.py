"""From a fresh machine to a report on one's own file: install the wheel, run one command.

The wheel is built here and installed into a new environment, alone beside the dependencies of this one. With
`MEMGOV_TEST_FRESH_INSTALL=1` pip fetches the dependencies too, with an empty cache (two minutes and more).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("memgov", "memory", "tenants", "bench", "pyproject.toml", "README.md")
FRESH = os.environ.get("MEMGOV_TEST_FRESH_INSTALL") == "1"
# What pip needs to reach its packages; nothing that this checkout or its environment set.
_KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
STORE = "- Prefers window seats on night trains\n- ok\n- Lives in Bern\n- Lives in Oslo\n- Lives in Bern.\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: building leaves folders behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    command = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", str(out)]
    subprocess.run([sys.executable, *command, str(source)], check=True, timeout=300)
    (built,) = out.glob("memgov_server-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    more = ["--no-cache-dir"] if FRESH else ["--no-deps", "--no-index"]
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *more, str(wheel)]
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    subprocess.run(install, check=True, timeout=1_800, env=_environment() | pip)
    if (
        not FRESH
    ):  # a line of a .pth file is a folder to look in: what is installed editable here stays unseen
        packages = next((folder / "lib").glob("python3*/site-packages"))
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_audit__from_the_wheel_in_a_clean_folder__reports(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(STORE)
    done = _memgov(environment, tmp_path, "audit", "mine.txt", "--json", "--html", "report.html")
    report = json.loads(done.stdout)
    assert (report["rows"], report["verdicts"]["exact_duplicate"], report["verdicts"]["too_vague"]) == (
        5,
        1,
        1,
    )
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine.txt", "report.html"], (
        "nothing else is left"
    )


def test_audit__from_the_wheel__is_the_wheels(environment: Path, tmp_path: Path) -> None:
    told = subprocess.run(
        [environment / "bin" / "python", "-c", "import memgov, memory; print(memgov.__file__, memory.__file__)"],
        cwd=tmp_path, env=_environment(), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert all(Path(one).is_relative_to(environment) for one in told.stdout.split())


def test_help__from_the_wheel__lists_the_commands(environment: Path, tmp_path: Path) -> None:
    assert "audit" in _memgov(environment, tmp_path, "--help").stdout


def _memgov(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [environment / "bin" / "memgov", *arguments], cwd=folder, env=_environment(), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return done


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}

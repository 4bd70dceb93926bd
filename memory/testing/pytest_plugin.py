"""Memory tests under pytest: files `*.memory.yaml` are collected, and `memory_world` makes worlds for tests in Python.

Not loaded by itself: name it in `pytest_plugins` of a conftest, or with `-p memory.testing.pytest_plugin`.  Django's
settings are read when a test first needs them; without servers in the environment embedded ones are started.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from memory.testing.reading import Case
    from memory.testing.world import World

SUFFIXES: Final = (".memory.yaml", ".memory.yml")


def _installation(config: pytest.Config) -> None:
    """Settings and servers, once: those of the environment or of a running memgov, else embedded ones for this run."""
    if config.stash.get(_READY, False):
        return
    config.stash[_READY] = True
    settings = importlib.import_module("django.conf").settings
    if not settings.configured:
        _servers(config)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
        importlib.import_module("django").setup()
        if config.stash.get(_STARTED, None) is not None:
            importlib.import_module("memgov.processes.prepare").migrate(verbosity=0)


def _servers(config: pytest.Config) -> None:
    plan = importlib.import_module("memgov.processes.plan")
    runtime = importlib.import_module("memgov.embedded.runtime")
    if plan.servers_are_given() or runtime.read(runtime.default_data_dir()):
        return
    servers = importlib.import_module("memgov.embedded.servers").EmbeddedServers.temporary().start()
    config.stash[_STARTED] = servers
    os.environ.update(
        DATABASE_URL=servers.url("app"),
        MIGRATION_DATABASE_URL=servers.url("owner"),
        REDIS_URL=servers.redis_url,
    )


_READY: Final = pytest.StashKey[bool]()
_STARTED: Final = pytest.StashKey[Any]()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started for this run."""
    servers = config.stash.get(_STARTED, None)
    if servers is not None:
        servers.stop()


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    """A file of cases."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    collector: pytest.Collector = CaseCollector.from_parent(parent, path=file_path)
    return collector


class BrokenCases(Exception):
    """A file of cases that cannot be run."""


class CaseCollector(pytest.File):
    """A file of cases; a broken one is an error of collection that names every line."""

    def collect(self) -> Iterator[pytest.Item]:
        """Each case as a test."""
        _installation(self.config)
        read = importlib.import_module("memory.testing.reading").read_cases(
            self.path.read_bytes(), self.path.name
        )
        if read.problems:
            raise BrokenCases("\n".join(f"{read.name}:{one.line}: {one.message}" for one in read.problems))
        for case in read.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The lines alone: where it was found out helps nobody."""
        if isinstance(excinfo.value, BrokenCases):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class CaseFailed(Exception):
    """What a case expected and what came."""


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self.case = case

    def runtest(self) -> None:
        """Run it; skipped and failed as pytest knows them."""
        result = importlib.import_module("memory.testing.run").run_case(self.case)
        if result.verdict == "skipped":
            pytest.skip(result.reason)
        if result.failures:
            raise CaseFailed(
                "\n".join(f"{self.case.file}:{one.line} {one.message}" for one in result.failures)
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The differences with their lines."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands in its file."""
        return self.path, self.case.line - 1, self.name


@pytest.fixture
def memory_world(request: pytest.FixtureRequest) -> Iterator[Callable[..., World]]:
    """Makes worlds: `memory_world({"coder": {"role": "coder", "grants": ["project:alpha=rw"]}}, policy={…})`.

    A world's `do` takes a step as a file has it and gives what it came to.  All are thrown away after the test.
    """
    _installation(request.config)
    worlds = importlib.import_module("memory.testing.worlds")
    made: list[World] = []

    def make(agents: dict[str, Any] | None = None, policy: dict[str, Any] | None = None) -> World:
        made.append(worlds.opened(agents, policy))
        return made[-1]

    yield make
    for world in made:
        world.__exit__()

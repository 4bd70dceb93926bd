"""`check CASES…`: memory tests; exit 0 when all pass, 1 on a failure, 2 when a file or a call of it is broken."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NoReturn

from django.core.management.base import BaseCommand
from django.db import connections

from memgov import env
from memory.domain.mount import Problem
from memory.testing import reports
from memory.testing.document import LAYERS, cases_schema
from memory.testing.reading import Case, CaseFile, read_cases
from memory.testing.remote import Server, Unreachable
from memory.testing.run import Result, run_cases
from memory.testing.world import clear_leftovers

STARTER: Final = Path(__file__).resolve().parents[2] / "testing" / "starter"
KEY_VARIABLE: Final = "MEMGOV_KEY"
FAILED, BROKEN = 1, 2
MOST_JOBS: Final = 16
"""Each holds two connections of the database."""


class Command(BaseCommand):
    help = "Run memory tests, each case in throw-away tenants of its own. `check starter` runs the matrix that ships."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        files = "files of cases, folders of them, or `starter`"
        parser.add_argument("cases", nargs="*", metavar="FILE", help=files)
        parser.add_argument(
            "--jobs", type=int, default=4, help="cases at a time; 4 when not given, 16 at most"
        )
        parser.add_argument("--only", metavar="WORDS", help="cases with these words in their name")
        parser.add_argument("--layer", choices=LAYERS, help="cases of this layer")
        parser.add_argument("--junit", type=Path, metavar="OUT", help="write JUnit XML")
        parser.add_argument("--github", action="store_true", help="annotate; on by itself in GitHub Actions")
        parser.add_argument("--url", help="test a running server instead, with --key: cases of one agent")
        parser.add_argument("--key", help=f"the agent's key there; or the variable {KEY_VARIABLE}")
        parser.add_argument("--keep", action="store_true", help="leave what was made, to look at it")
        parser.add_argument("--list", action="store_true", help="name the cases and run none")
        parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the files")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(json.dumps(cases_schema(), indent=2, ensure_ascii=False))
            return
        github = options["github"] or os.environ.get("GITHUB_ACTIONS") == "true"
        files = [_read(path) for path in _paths(options["cases"])]
        if broken := [file for file in files if file.problems]:
            self._tell_broken(broken, github=github)
            sys.exit(BROKEN)
        cases = [case for file in files for case in file.cases if _wanted(case, options)]
        if not cases:
            self._refuse("no case fits; give files of cases, a folder of them, or `starter`")
        if options["list"]:
            self.stdout.write("\n".join(f"{case.file}:{case.line} {case.name}" for case in cases))
            return
        sys.exit(self._run(cases, options, github=github))

    def _run(self, cases: list[Case], options: dict[str, Any], *, github: bool) -> int:
        try:
            server = _server(options)
        except Unreachable as error:
            self._refuse(str(error))
        if server is None:
            self._check_installation()
            clear_leftovers()
        began, jobs = perf_counter(), min(max(1, options["jobs"]), MOST_JOBS)
        results = run_cases(cases, jobs=jobs, keep=options["keep"], server=server, told=self._tell)
        if github:
            self.stdout.write("\n".join(reports.for_github(results)))
        if options["junit"]:
            try:
                reports.junit(results, options["junit"])
            except OSError as error:
                self._refuse(f"{options['junit']} cannot be written: {error.strerror}")
        self.stdout.write(reports.summary(results, perf_counter() - began))
        return FAILED if any(one.verdict in ("failed", "error") for one in results) else 0

    def _check_installation(self) -> None:
        """The app's own role may not delete an audit, so it could not throw a tenant away."""
        if connections["owner"].settings_dict["USER"] == connections["default"].settings_dict["USER"]:
            self._refuse("memory tests make tenants and throw them away: set MIGRATION_DATABASE_URL as well")

    def _tell(self, result: Result) -> None:
        self.stdout.write(reports.line_of(result))

    def _tell_broken(self, files: list[CaseFile], *, github: bool) -> None:
        for file in files:
            for one in file.problems:
                self.stderr.write(f"{file.name}:{one.line}: {one.code}: {one.message}")
            if github:
                self.stdout.write("\n".join(reports.file_for_github(file)))
        self.stderr.write("nothing was run")

    def _refuse(self, why: str) -> NoReturn:
        self.stderr.write(why)
        sys.exit(BROKEN)


def _server(options: dict[str, Any]) -> Server | None:
    if not options["url"]:
        return None
    key = options["key"] or env.text(KEY_VARIABLE)
    if not key:
        raise Unreachable(f"--url needs --key, or the variable {KEY_VARIABLE}")
    return Server.met(options["url"], key)


def _paths(given: list[str]) -> list[Path]:
    found: list[Path] = []
    for one in given:
        path = STARTER if one == "starter" and not Path(one).exists() else Path(one)
        found += sorted([*path.glob("*.yaml"), *path.glob("*.yml")]) if path.is_dir() else [path]
    return found


def _read(path: Path) -> CaseFile:
    name = f"starter/{path.name}" if path.parent == STARTER else str(path)
    try:
        return read_cases(path.read_bytes(), name)
    except OSError as error:
        return CaseFile(name, (), (Problem(1, "unreadable", error.strerror or str(error)),))


def _wanted(case: Case, options: dict[str, Any]) -> bool:
    layer, words = options["layer"], options["only"]
    return (layer is None or case.document.layer == layer) and (
        words is None or words.casefold() in case.name.casefold()
    )

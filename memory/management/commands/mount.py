"""`mount apply|diff FILE --tenant SLUG`: what a repository's `memgov.mount.yaml` declares.

Exit codes as of a diff tool.  `apply`: 0 it holds now, 2 refused and nothing changed.  `diff`: 0 no difference,
1 differences, 2 the file would be refused.
"""

from __future__ import annotations

import json
import secrets
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from memory.audit.visible import masked, visible
from memory.domain.ids import show_id
from memory.domain.mount import Problem
from memory.management.named import tenant_named
from memory.services.errors import ServiceError
from memory.services.mount_types import MountChange, MountRefused, MountResult
from memory.services.mounts import MountCall, mount_apply
from tenants.principals import system

TROUBLE: Final = 2
DIFFERENT: Final = 1
_SIGNS: Final = {"add": "+", "remove": "-", "change": "~"}


class Command(BaseCommand):
    help = "Apply a mount manifest, or show what applying it would change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(dest="does", required=True, metavar="apply|diff")
        put = does.add_parser("apply", help="make the file's entries the declared ones of its name")
        diff = does.add_parser("diff", help="what that would change; exit code 1 when it is something")
        for one in (put, diff):
            one.add_argument("file", help="such as memgov.mount.yaml; - reads standard input")
            one.add_argument("--tenant", required=True, metavar="SLUG")
            one.add_argument(
                "--within", action="append", default=[], metavar="PATTERN",
                help="refuse entries outside this scope, such as 'project:alpha' or 'user:*'; may be repeated",
            )  # fmt: skip
            one.add_argument("--json", action="store_true")
        put.add_argument("--commit", default="", metavar="SHA", help="the commit that the file is from")
        put.add_argument("--by", default="", metavar="NAME", help="who applies it, such as the CI run")
        put.add_argument("--dry-run", action="store_true", help="do everything and take it back")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except CommandError as error:
            raise CommandError(str(error), returncode=TROUBLE) from None

    def _run(self, options: dict[str, Any]) -> None:
        dry_run = options["does"] == "diff" or options["dry_run"]
        document = _read(options["file"])
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, "cli.mount", request_id=f"mount-{secrets.token_hex(8)}")
        call = MountCall(options.get("commit", ""), options.get("by", ""), options["within"], dry_run)
        try:
            result = mount_apply(actor, document, call)
        except MountRefused as refused:
            self._refused(refused, options)
        except ServiceError as error:
            raise CommandError(error.detail) from None
        else:
            self._told(result, tenant.slug, as_json=options["json"])
            if options["does"] == "diff" and result.changes:
                raise SystemExit(DIFFERENT)

    def _refused(self, refused: MountRefused, options: dict[str, Any]) -> None:
        if options["json"]:
            problems = [_problem(one) for one in refused.problems]
            self.stdout.write(json.dumps({"status": "refused", "problems": problems}, indent=1))
        else:
            name = "standard input" if options["file"] == "-" else visible(options["file"])
            for one in refused.problems:
                self.stderr.write(f"{name}:{one.line}: {masked(one.message)} [{one.code}]")
        raise CommandError(refused.detail)

    def _told(self, result: MountResult, slug: str, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(_document(result, slug), indent=1))
            return
        for one in result.changes:
            self.stdout.write(_line(one))
        if not result.changes:
            self.stdout.write("no difference" if result.dry_run else "nothing to change")
        counts = ", ".join(f"{result.count(what)} {words}" for what, words in _words(result).items())
        self.stdout.write(f"mount {result.name} in tenant {slug}: {result.entries} entries; {counts}")
        if result.confirmed:
            self.stdout.write(f"{result.confirmed} had aged; the file confirms them")
        if result.dry_run:
            self.stdout.write("nothing was stored")


def _words(result: MountResult) -> dict[str, str]:
    if result.dry_run:
        return {"add": "to add", "remove": "to remove", "change": "to change"}
    return {"add": "added", "remove": "removed", "change": "changed"}


def _line(one: MountChange) -> str:
    place = f"line {one.line}" if one.line else "not in the file"
    return f"{_SIGNS[one.what]} {place}: {one.scope} {masked(one.content, 120)!r} ({one.note})"


def _problem(one: Problem) -> dict[str, Any]:
    return {"line": one.line, "code": one.code, "message": masked(one.message, 1000)}


def _document(result: MountResult, slug: str) -> dict[str, Any]:
    status = "would_apply" if result.dry_run else "applied" if result.stored else "unchanged"
    return {
        "status": status,
        "tenant": slug,
        "name": result.name,
        "sha256": result.sha256,
        "commit": result.commit or None,
        "entries": result.entries,
        "confirmed": result.confirmed,
        "changes": _changes(result.changes, result.dry_run),
    }


def _changes(changes: Sequence[MountChange], dry_run: bool) -> list[dict[str, Any]]:
    """A memory that a dry run made is taken back, and its id with it."""
    return [
        {
            "what": one.what,
            "line": one.line,
            "memory": None if dry_run and one.made else show_id("mem", one.memory_id),
            "scope": one.scope,
            "content": masked(one.content, 8000),
            "note": one.note,
        }
        for one in changes
    ]


def _read(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None

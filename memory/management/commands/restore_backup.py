"""`restore-backup FILE`: a backup in the place of the database.  The old one is there until the last step."""

from __future__ import annotations

import contextlib
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.checks import Tags, run_checks
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from memgov import clock
from memgov.backups.archive import CHECKPOINTS, Reading
from memgov.backups.errors import of_file
from memgov.backups.making import read_if_there
from memgov.backups.restoring import Restore, refuse_newer, restoring
from memgov.embedded import runtime
from memgov.embedded.datadir import write_private
from memgov.processes import prepare
from memory.management.bars import bar
from memory.management.whole_database import looking_at, place, refusals
from memory.services.audit_verify import audit_verify
from tenants.models import Tenant

_OTHER_KEY = (
    "WARNING: MEMGOV_SECRET_KEY is another than when the backup was made.  Nobody can tell whether the file was "
    "changed, and waiting jobs and sealed secrets cannot be read.  Set the key of that time (or put it into {key}) "
    "before you start."
)


class Command(BaseCommand):
    help = (
        "Restore a backup: check the file, load it beside the database, bring it up to date, verify the audit, and "
        "put it in place.  Killed, it can be run again.  Restore only files that you trust: the dump runs as superuser."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="even when the database has tenants: they go"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask for the name of the database")

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_running()
        secret = str(settings.SECRET_KEY)
        with refusals(), Reading(options["file"]) as file:
            refuse_newer(file, _known_migration())
            with bar("checking the file") as progress:
                file.check(secret, progress)
            with restoring(place(), file) as restore:
                broken = self._restored(restore, file, options)
            if not file.manifest.key_is(secret):
                self.stderr.write(self.style.WARNING(_OTHER_KEY.format(key=settings.DATA_DIR / "secret_key")))
        self.stdout.write(
            f"restored as of {file.manifest.made_at}: what was written since is gone, and what was erased since "
            "is back and has to be erased again; people sign in again"
        )
        if broken:
            raise CommandError(f"restored, but the audit chain is broken: {', '.join(broken)}")

    def _restored(self, restore: Restore, file: Reading, options: dict[str, Any]) -> list[str]:
        """Do what is left to do; the tenants whose audit chain does not hold."""
        name = str(settings.DATABASES["default"]["NAME"])
        connections.close_all()
        if restore.is_in_place():
            self.stdout.write("an earlier run had put it in place; finishing")
        else:
            self._may_replace(restore.tenants_there(), name, options)
            restore.refuse_users()
            with bar("restoring") as progress:
                restore.fill(progress)
            with looking_at(f"{name}_restoring"):
                _bring_up_to_date()
            restore.put_in_place()
        aside = _place_checkpoints(b"".join(file.chunks(CHECKPOINTS)))
        if aside:
            self.stdout.write(f"checkpoints that know later events went to {aside}")
        broken = self._verified()
        connections.close_all()
        _forget()
        # The demo is for an installation that has nothing else.
        (settings.DATA_DIR / "demo-loaded").touch(mode=0o600)
        restore.finish()
        return broken

    def _may_replace(self, tenants: int, name: str, options: dict[str, Any]) -> None:
        if not tenants:
            return
        if not options["replace"]:
            raise CommandError(
                f"the database {name} has {tenants} tenants; --replace puts the backup in their place"
            )
        if options["yes"]:
            return
        self.stdout.write(
            f"This drops the {tenants} tenants of the database {name}.  Type its name to go on: ", ending=""
        )
        self.stdout.flush()
        typed = ""
        with contextlib.suppress(EOFError):
            typed = input()
        if typed.strip() != name:
            raise CommandError("nothing was changed: that is not its name (or use --yes)")

    def _verified(self) -> list[str]:
        broken = []
        for tenant in Tenant.objects.order_by("slug"):
            report = audit_verify(tenant.id).report
            if report.ok:
                self.stdout.write(f"{tenant.slug}: the chain holds, {report.count} events")
            else:
                broken.append(tenant.slug)
                self.stdout.write(f"{tenant.slug}: BROKEN ({report.problem}): {report.explanation}")
        return broken


def _refuse_running() -> None:
    """Our own servers, held by a product or another command, are not ours to change."""
    running = runtime.read(settings.DATA_DIR)
    if running and running["supervisor_pid"] != os.getpid() and running.get("web_url"):
        raise CommandError("memgov runs with this data: stop it with `memgov down`")


def _known_migration() -> Any:
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    apps = {app for app, _ in known}
    # Of an app that is no longer installed nothing is asked for: its tables are only left over.
    return lambda app, name: (app, name) in known or app not in apps


def _bring_up_to_date() -> None:
    """Migrations that the backup lacks, and the boundary as every start asks for it."""
    prepare.migrate(verbosity=0)
    if problems := run_checks(tags=[Tags.database], databases=["default"]):
        raise CommandError(f"the backup does not hold the tenant boundary: {problems[0]}")


def _place_checkpoints(kept: bytes) -> Path | None:
    """The backup's checkpoints in the data folder; where those went that it does not have, and that would call the
    restored chain cut off for ever."""
    path = Path(settings.MEMGOV_CHECKPOINT_FILE)
    there = read_if_there(path)
    if there == kept:
        return None
    aside = None
    try:
        if not kept.startswith(there):
            aside = path.with_name(f"{path.stem}.before-{clock.now():%Y%m%dT%H%M%S}{path.suffix}")
            path.rename(aside)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, kept.decode(errors="replace"))
    except OSError as error:
        raise of_file(error, path) from None
    return aside


def _forget() -> None:
    """What the cache knows is of the database that went: sessions and keys above all."""
    with contextlib.suppress(Exception):
        cache.delete_pattern("*")  # type: ignore[attr-defined]

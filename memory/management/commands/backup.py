"""`backup FILE`: everything in one file, beside a running product."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memgov import clock
from memgov.backups.making import Wanted, make
from memory.management.bars import bar
from memory.management.whole_database import admin_url, refusals


class Command(BaseCommand):
    help = (
        "Back up the database and the audit checkpoints to one file, beside a running product.  The file holds "
        "all memories: keep it like the database.  MEMGOV_SECRET_KEY is not in it and has to be kept as well."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="put it in the place of a file of this name"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["file"].expanduser().absolute()
        if target.is_dir() or (target.exists() and not options["replace"]):
            raise CommandError(f"{target} is there already; name another file, or replace it with --replace")
        wanted = Wanted(
            admin_url(),
            Path(settings.MEMGOV_CHECKPOINT_FILE),
            str(settings.SECRET_KEY),
            _version(),
            clock.now().isoformat(timespec="seconds"),
        )
        with refusals(), bar("backing up") as progress:
            made = make(wanted, target, progress)
        size = target.stat().st_size
        if options["json"]:
            told = {"file": str(target), "bytes": size, "made_at": made.made_at, "tenants": made.tenants}
            self.stdout.write(json.dumps({**told, "version": made.version, "seal": made.seal}))
            return
        self.stdout.write(
            f"{made.tenants} tenants went to {target} ({size / 1e6:,.1f} MB), as they were at {made.made_at}"
        )
        self.stdout.write(
            "Keep with it, not beside it: MEMGOV_SECRET_KEY (without it waiting jobs and sealed secrets cannot be "
            "read), and your other settings."
        )
        if (settings.DATA_DIR / "secret_key").exists():
            self.stdout.write(
                f"Unless you set it yourself, the key is the file {settings.DATA_DIR / 'secret_key'}."
            )


def _version() -> str:
    try:
        return version("memgov")
    except PackageNotFoundError:  # run from its sources
        return "unreleased"

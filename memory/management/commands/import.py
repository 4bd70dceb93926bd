"""`import FILE`: an exported tenant into a new one."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.management.bars import bar
from memory.management.named import refusals_told
from memory.services.tenant_import import Imported, tenant_import


class Command(BaseCommand):
    help = "Import an exported tenant as a new one.  An interrupted import goes on; the same file again adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--slug", default="", help="another name in addresses than the tenant had")
        parser.add_argument("--dry-run", action="store_true", help="read and check everything, store nothing")
        parser.add_argument(
            "--skip-broken", action="store_true", help="import what can be read, name the rest"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_told(), bar("importing") as progress:
            done = tenant_import(
                options["file"],
                slug=options["slug"],
                dry_run=options["dry_run"],
                skip_broken=options["skip_broken"],
                progress=progress,
            )
        if options["json"]:
            self.stdout.write(json.dumps(_document(done)))
        else:
            self._tell(done)
        if done.chain_holds is False:
            raise CommandError("the audit chain does NOT hold: see `memgov verify-audit`")

    def _tell(self, done: Imported) -> None:
        for number, why in done.skipped:
            self.stdout.write(f"  line {number}: {why}")
        if done.known:
            self.stdout.write(f"0 new: this file was imported into {done.slug} before")
            return
        if done.resumed_after:
            self.stdout.write(f"went on after line {done.resumed_after:,}")
        would = "would come" if done.dry_run else "came"
        self.stdout.write(f"{done.added:,} rows {would} into {done.slug}, {len(done.skipped)} lines skipped")
        if done.secrets:
            self.stdout.write(f"{done.secrets:,} secrets were blanked out")
        if done.dry_run:
            self.stdout.write("dry run: nothing was stored")
        elif done.chain_holds:
            self.stdout.write(
                "the audit chain holds; agents need new keys, and channels for alerts are set up anew"
            )


def _document(done: Imported) -> dict[str, Any]:
    return {
        "tenant": done.slug,
        "dry_run": done.dry_run,
        "known": done.known,
        "added": 0 if done.dry_run else done.added,
        "rows": dict(done.counts),
        "skipped": [{"line": number, "why": why} for number, why in done.skipped],
        "secrets": done.secrets,
        "chain_holds": done.chain_holds,
    }

"""`export FILE --tenant SLUG`: a whole tenant as JSON lines, or its memories as CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from memory.management.bars import bar
from memory.management.named import refusals_told, tenant_named
from memory.services.tenant_export import FORMATS, tenant_export
from tenants.principals import system


class Command(BaseCommand):
    help = (
        "Export a tenant to a file that `memgov import` reads back; keys and other secrets are never in it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--tenant", metavar="SLUG", required=True)
        parser.add_argument(
            "--format", choices=FORMATS, default="jsonl", help="csv and parquet: the memories only"
        )
        parser.add_argument("--dry-run", action="store_true", help="read everything, write nothing")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = tenant_named(options["tenant"])
        with refusals_told(), bar(f"exporting {tenant.slug}") as progress:
            done = tenant_export(
                system(tenant.id, "cli.export"),
                tenant,
                options["file"],
                form=options["format"],
                dry_run=options["dry_run"],
                progress=progress,
            )
        if options["json"]:
            told = {"rows": dict(done.counts), "secrets": done.secrets, "sha256": done.sha256 or None}
            self.stdout.write(json.dumps({"tenant": tenant.slug, "dry_run": options["dry_run"], **told}))
            return
        verb = "would go" if options["dry_run"] else "went"
        self.stdout.write(f"{sum(done.counts.values()):,} rows of {tenant.slug} {verb} to {options['file']}")
        if done.secrets:
            self.stdout.write(f"{done.secrets:,} secrets in older rows were blanked out in the file")

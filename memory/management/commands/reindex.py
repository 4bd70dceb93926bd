"""`reindex`: the search index as it would be made now, with a progress bar."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memory.management.named import tenants_named
from memory.services.reindexing import Reindexed, tenant_reindex
from tenants.models import Tenant


class Command(BaseCommand):
    help = "Bring the search index up to date: after a change of the embedder, or of how words are cut."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        left = 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            for tenant in tenants_named(options["tenant"]):
                done = _reindexed(tenant, options["dry_run"], bar)
                left += done.without_vector
                self.stdout.write(_line(done, tenant, options["dry_run"]))
        if left:
            raise CommandError(f"the embedder did not answer for {left} memories; run it again when it does")


def _reindexed(tenant: Tenant, dry_run: bool, bar: Progress) -> Reindexed:
    task = bar.add_task(f"reindex {tenant.slug}", total=None)
    try:
        return tenant_reindex(
            tenant.id,
            dry_run=dry_run,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    finally:
        bar.remove_task(task)


def _line(done: Reindexed, tenant: Tenant, dry_run: bool) -> str:
    would = "would get" if dry_run else "got"
    return (
        f"{tenant.slug}: looked at {done.scanned}, {done.new_rows} were missing, {done.new_terms} {would} new terms,"
        f" {done.new_vectors} {would} new vectors, {done.without_vector} left without"
    )

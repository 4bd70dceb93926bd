"""`sweep NAME`: any background sweep, now, with a progress bar."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memory.management.named import tenants_named
from memory.models import SweepRun
from memory.services.manifest_months import manifest_months_keep
from memory.services.sweeps import SWEEPS
from memory.services.sweeps.run import FAILED
from tenants.models import Tenant


class Command(BaseCommand):
    help = "Run a background sweep now, for one tenant or for all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=sorted(SWEEPS))
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = []
        if options["name"] == "retention" and not options["tenant"] and not options["dry_run"]:
            self.stdout.write(_months())
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            for tenant in tenants_named(options["tenant"]):
                run = _run(options["name"], tenant, options["dry_run"], bar)
                self.stdout.write(_line(run, tenant))
                if run.status == FAILED:
                    failed.append(tenant.slug)
        if failed:
            raise CommandError(f"failed for {', '.join(failed)}")


def _months() -> str:
    kept = manifest_months_keep()
    said = {"made": kept.made, "dropped": kept.dropped, "left for the next time": kept.left}
    parts = [
        f"{what} {', '.join(f'{month:%Y-%m}' for month in found)}" for what, found in said.items() if found
    ]
    return f"months of manifests: {'; '.join(parts) or 'nothing to do'}"


def _run(name: str, tenant: Tenant, dry_run: bool, bar: Progress) -> SweepRun:
    task = bar.add_task(f"{name} {tenant.slug}", total=None)
    try:
        return SWEEPS[name](
            tenant.id,
            dry_run=dry_run,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    finally:
        bar.remove_task(task)


def _line(run: SweepRun, tenant: Tenant) -> str:
    took = (run.finished_at - run.started_at).total_seconds() if run.finished_at else 0.0
    would = "would change" if run.dry_run else "changed"
    said = f"{tenant.slug}: {run.name} {run.status}, looked at {run.scanned}, {would} {run.changed}"
    skipped = f", left alone {run.skipped}" if run.skipped else ""
    return f"{said}{skipped}, {took:.2f} s, policy {run.policy_version}" + (
        f"\n  {run.note}" if run.note else ""
    )

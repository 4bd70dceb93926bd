"""`verify-audit`: exit code 0 only if every audit chain holds; names the first broken event."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memgov import clock
from memory.management.named import refusals_told, tenants_named
from memory.services.audit_verify import Verification, audit_export, audit_verify, audit_verify_file


class Command(BaseCommand):
    help = "Verify the audit chain of one tenant or of all, or of an export without a database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant")
        parser.add_argument(
            "--export", metavar="FILE", type=Path, help="write the chain as JSON lines (with --tenant)"
        )
        parser.add_argument("--file", metavar="FILE", type=Path, help="verify an export; needs no database")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"]:
            found = [self._of_file(options["file"])]
        else:
            found = self._of_database(options["tenant"], options["export"])
        if broken := [name for name, one in found if not one.report.ok]:
            raise CommandError(f"the audit chain is broken: {', '.join(broken)}")

    def _of_file(self, path: Path) -> tuple[str, Verification]:
        try:
            with refusals_told():
                name, one = audit_verify_file(path)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self._say(name, one)
        return name, one

    def _of_database(self, slug: str | None, export: Path | None) -> list[tuple[str, Verification]]:
        if export and not slug:
            raise CommandError("--export needs --tenant: an export holds one chain")
        found = []
        for tenant in tenants_named(slug):
            one = audit_verify(tenant.id)
            self._say(tenant.slug, one)
            found.append((tenant.slug, one))
            if export:
                with export.open("w", encoding="utf-8") as file:
                    count = audit_export(tenant.id, tenant.slug, file, clock.now())
                self.stdout.write(f"{count} events written to {export}")
        return found

    def _say(self, name: str, one: Verification) -> None:
        report = one.report
        if report.ok:
            self.stdout.write(f"{name}: the chain holds, {report.count} events")
            return
        where = report.first_broken or f"after event number {one.head.seq if one.head else 0}"
        self.stdout.write(f"{name}: BROKEN at {where} ({report.problem}): {report.explanation}")

"""`erase SUBJECT --tenant SLUG --reason R`: erase all about a subject, for good, with a progress bar."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.management.bars import bar
from memory.management.named import refusals_told, tenant_named
from memory.services.erasure import ErasureLook, ErasureWish, erasure_look, subject_erase
from memory.services.erasure_receipt import erasure_receipt
from memory.services.erasure_run import erasure_run_here
from tenants.principals import system


class Command(BaseCommand):
    help = "Erase all about a subject (its aliases too), for good: memories, history, reads, reviews, waiting work."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("subject", metavar="SUBJECT")
        parser.add_argument("--tenant", metavar="SLUG", required=True)
        parser.add_argument(
            "--reason", metavar="R", default="", help="kept for ever; it must not name the subject"
        )
        parser.add_argument(
            "--mentions", metavar="WORDS", action="append", default=[],
            help="erase others' memories that hold these words as well; may be given several times",
        )  # fmt: skip
        parser.add_argument("--dry-run", action="store_true", help="say what would go, change nothing")
        parser.add_argument("--yes", action="store_true", help="do not ask for the subject to be typed again")
        parser.add_argument("--json", action="store_true", help="print the look or the receipt as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, "cli.erase")
        subject, words = options["subject"], tuple(options["mentions"])
        wish = ErasureWish(subject, words, all_along=bool(words), reason=options["reason"], typed=subject)
        with refusals_told():
            look = erasure_look(actor, wish)
        if options["dry_run"] or not options["json"]:
            self._tell(look, options)
        if options["dry_run"]:
            return
        if not options["yes"]:
            self.stdout.write("This cannot be taken back. Type the subject again: ", ending="")
            self.stdout.flush()
            if input().strip() != subject:
                raise CommandError("that is not the subject; nothing was erased")
        with refusals_told(), bar(f"erasing in {tenant.slug}") as progress:
            job = subject_erase(actor, wish, here=True)
            ended = erasure_run_here(job, progress)
        if ended != "done":
            raise CommandError("it could not be finished; the job says why")
        with refusals_told():
            receipt = erasure_receipt(actor, job.id)
        if options["json"]:
            self.stdout.write(json.dumps(receipt))
            return
        self.stdout.write(f"{receipt['entries']:,} memories of {tenant.slug} were erased")
        self.stdout.write(f"receipt: {receipt['chain']['event']}, sha256 {receipt['sha256']}")
        if receipt["stays"]["memory_auditevent"]:
            self.stdout.write(
                f"{receipt['stays']['memory_auditevent']:,} events of the audit still name the subject"
            )

    def _tell(self, look: ErasureLook, options: dict[str, Any]) -> None:
        if options["json"]:
            told = {"memories": look.going, "why": dict(look.why), "statuses": dict(look.statuses),
                    "tables": dict(look.tables), "mentions": look.mentioned, "seal": look.seal}  # fmt: skip
            self.stdout.write(json.dumps(told))
            return
        why = ", ".join(f"{reason}: {count:,}" for reason, count in look.why.items())
        self.stdout.write(f"{look.going:,} memories go{f' ({why})' if why else ''}; {len(look.names)} names")
        for table, rows in look.tables.items():
            self.stdout.write(f"  {table}: {rows:,}")

"""`memgov audit FILE --import --tenant SLUG`: the rows of a foreign store come in as candidates.

Without `--import` the command line reads the file by itself and never gets here.
"""

from __future__ import annotations

import json
import secrets
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.audit import command
from memory.audit.visible import masked
from memory.importers import Unusable
from memory.management.named import refusals_told, tenant_named
from memory.services.foreign_import import Imported, foreign_import
from memory.services.foreign_import_undo import TakenBack, foreign_import_undo
from tenants.context import tenant_context
from tenants.models import Membership, Tenant
from tenants.principals import Principal, system

_WORDS = {
    "held": "wait as candidates",
    "quarantined": "wait in quarantine",
    "replaced": "took the place of a live memory's value",
    "duplicate": "are known in the same words",
    "near_duplicate": "are known in other words",
    "known": "were imported before",
    "ended": "were over in their own store",
    "rejected": "were refused",
    "skipped": "say otherwise than a live memory and were left out",
    "invalid": "cannot be stored",
    "unreadable": "could not be read",
}


class Command(BaseCommand):
    help = "Audit a foreign memory store, and with --import bring it in as candidates."

    def add_arguments(self, parser: ArgumentParser) -> None:
        command.add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = command.Chosen(**{name: options[name] for name in command.Chosen.__annotations__})
        try:
            if not options["importing"]:
                command.tell(command.audited(chosen), chosen)
                return
            if chosen.html:
                command.write_page(command.audited(chosen), chosen.html)
            with refusals_told():
                self._import(chosen, options)
        except Unusable as error:
            raise CommandError(str(error), returncode=command.UNUSABLE) from None

    def _import(self, chosen: command.Chosen, options: dict[str, Any]) -> None:
        if not options["tenant"]:
            raise CommandError("--import needs --tenant SLUG: rows come to one tenant, whatever they say")
        tenant = tenant_named(options["tenant"])
        actor = _actor(tenant, options["member"])
        with command.progress(chosen.file, "importing") as watch:
            parts = command.reading(chosen, watch).parts()
            where = {"scope": options["scope"], "dry_run": options["dry_run"]}
            if options["undo"]:
                back = foreign_import_undo(actor, parts, **where)
            else:
                result = foreign_import(actor, parts, on_conflict=options["on_conflict"], **where)
        if options["undo"]:
            self._tell_undo(back, tenant.slug, as_json=chosen.json)
            return
        if chosen.json:
            self.stdout.write(json.dumps(_document(result, tenant.slug), ensure_ascii=False, indent=1))
        else:
            self._tell(result, tenant.slug, chosen.limit)

    def _tell_undo(self, back: TakenBack, slug: str, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"tenant": slug, **asdict(back)}))
            return
        went = "would go" if back.dry_run else "went"
        self.stdout.write(f"{back.removed:>9,} rows of the import {went} from tenant {slug}")
        if back.restored:
            lives = "would live" if back.dry_run else "live"
            self.stdout.write(f"{back.restored:>9,} values that it had replaced {lives} again")
        self.stdout.write(f"{back.stayed:>9,} stay: somebody decided on them")

    def _tell(self, result: Imported, slug: str, most: int) -> None:
        for pointer, what, why in result.told[: max(most, 0)]:
            self.stdout.write(f"  {masked(pointer)}: {what}, {masked(why)}")
        for what, words in _WORDS.items():
            if count := result.counts[what]:
                self.stdout.write(f"{count:>9,} {words}")
        if result.dry_run:
            self.stdout.write("dry run: nothing was stored")
        else:
            self.stdout.write(
                f"{result.added:,} new in tenant {slug}; no agent gets one that waits before a person admits it"
            )
        sys.stdout.flush()


def _actor(tenant: Tenant, email: str | None) -> Principal:
    """The member with this address, or the command itself."""
    request_id = f"import-{secrets.token_hex(8)}"
    if not email:
        return system(tenant.id, "import", request_id=request_id)
    with tenant_context(tenant.id):
        member = Membership.objects.filter(email__iexact=email).first()
    if member is None:
        raise CommandError(f"no member of {tenant.slug} has the address {email}")
    name = member.name or member.email
    return Principal(
        tenant.id, "member", f"usr_{member.user_id.hex}", name, role=member.role, request_id=request_id
    )


def _document(result: Imported, slug: str) -> dict[str, Any]:
    return {
        "tenant": slug,
        "dry_run": result.dry_run,
        "added": result.added,
        "counts": dict(result.counts),
        "rejected": dict(result.reasons),
        "told": [
            {"pointer": masked(pointer), "outcome": what, "why": masked(why)}
            for pointer, what, why in result.told
        ],
    }

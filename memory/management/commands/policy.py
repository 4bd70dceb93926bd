"""`policy show|diff FILE|set FILE|preset NAME|roll-back N|presets --tenant SLUG`: policies from a file or a preset."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from memory.domain import policy_presets
from memory.domain.policy import PRESETS, Policy, preset, sparse
from memory.management.named import refusals_told, tenant_named
from memory.models import PolicyVersion
from memory.selectors.policies import active_policy
from memory.services.errors import ServiceError
from memory.services.policies import (
    PolicyInvalid,
    PolicyMoved,
    policy_activate,
    policy_diff,
    policy_read,
    policy_roll_back,
)
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal, system

_FILE = "YAML or JSON; what it leaves out has the product's default; - reads standard input"


class Command(BaseCommand):
    help = "Show, compare and change the policy of a tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(
            dest="does", required=True, metavar="show|diff|set|preset|roll-back|presets"
        )
        show = does.add_parser("show", help="the active policy, as YAML")
        show.add_argument("--short", action="store_true", help="only what differs from the product's default")
        diff = does.add_parser("diff", help="what a file would change; changes nothing")
        put = does.add_parser("set", help="activate a file as a new version")
        ready = does.add_parser("preset", help="activate a preset as a new version")
        back = does.add_parser("roll-back", help="activate what an earlier version said, as a new version")
        listed = does.add_parser("presets", help="the presets, and what each would change; changes nothing")
        for one in (diff, put):
            one.add_argument("file", help=_FILE)
        ready.add_argument("name", choices=PRESETS)
        back.add_argument("number", type=int)
        for one in (put, ready, back):
            one.add_argument("--reason", required=True, help="stands beside the version")
            one.add_argument(
                "--expect", type=int, metavar="N", help="only if version N is in force, as you saw it"
            )
        for one in (show, diff, put, ready, back):
            one.add_argument("--tenant", required=True, metavar="SLUG")
        listed.add_argument("--tenant", metavar="SLUG", help="compare with this tenant's policy")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["does"] == "presets" and not options["tenant"]:
            self._presets(None)
            return
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, f"cli.policy_{options['does'].replace('-', '_')}")
        with refusals_told():
            try:
                self._does(tenant, actor, options)
            except ServiceError as error:
                self._told(error, options)
                raise

    def _does(self, tenant: Tenant, actor: Principal, options: dict[str, Any]) -> None:
        match options["does"]:
            case "show":
                self._show(tenant, short=options["short"])
            case "presets":
                self._presets(actor)
            case "diff":
                lines = policy_diff(actor, policy_read(_text(options["file"])))
                self.stdout.write("\n".join(lines) or "no difference")
            case "set":
                document = policy_read(_text(options["file"]))
                self._activated(
                    policy_activate(actor, document, options["reason"], expected=options["expect"])
                )
            case "preset":
                ready = preset(options["name"])
                self._activated(policy_activate(actor, ready, options["reason"], expected=options["expect"]))
            case "roll-back":
                number, reason = options["number"], options["reason"]
                self._activated(policy_roll_back(actor, number, reason, expected=options["expect"]))

    def _told(self, error: ServiceError, options: dict[str, Any]) -> None:
        """Every fault with its line, and what changed meanwhile: more than the one sentence of the error."""
        if isinstance(error, PolicyInvalid):
            for one in error.faults:
                place = f"{one.place}: " if one.place else ""
                self.stderr.write(f"{options.get('file', '')}:{one.line}: {place}{one.message}")
        if isinstance(error, PolicyMoved):
            for line in error.changes:
                self.stderr.write(f"  {line}")

    def _show(self, tenant: Tenant, *, short: bool) -> None:
        with tenant_context(tenant.id):
            active = active_policy()
        document = sparse(active.policy) if short else Policy.model_dump(active.policy, mode="json")
        self.stdout.write(f"# {tenant.slug}, version {active.number}")
        self.stdout.write(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))

    def _presets(self, actor: Principal | None) -> None:
        for one in policy_presets.ALL:
            self.stdout.write(f"{one.name}: {one.about}")
            for line in policy_diff(actor, preset(one.name)) if actor else ():
                self.stdout.write(f"  {line}")

    def _activated(self, version: PolicyVersion) -> None:
        self.stdout.write(f"policy version {version.number} is active")
        for line in version.changes:
            self.stdout.write(f"  {line}")


def _text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8") from None

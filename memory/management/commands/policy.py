"""`policy show|diff FILE|set FILE|preset NAME --tenant SLUG`: policies from a file or a preset."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from memory.domain.policy import PRESETS, Policy, preset
from memory.management.named import refusals_told, tenant_named
from memory.selectors.policies import active_policy
from memory.services.policies import policy_activate, policy_diff
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import system


class Command(BaseCommand):
    help = "Show, compare and change the policy of a tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(dest="does", required=True, metavar="show|diff|set|preset")
        show = does.add_parser("show", help="the active policy, as YAML")
        diff = does.add_parser("diff", help="what a file would change; changes nothing")
        put = does.add_parser("set", help="activate a file as a new version")
        ready = does.add_parser("preset", help="activate a preset as a new version")
        for one in (diff, put):
            one.add_argument(
                "file",
                help="YAML or JSON; what it leaves out has the product's default; - reads standard input",
            )
        ready.add_argument("name", choices=PRESETS)
        for one in (put, ready):
            one.add_argument("--reason", required=True, help="stands beside the version")
        for one in (show, diff, put, ready):
            one.add_argument("--tenant", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, f"cli.policy_{options['does']}")
        with refusals_told():
            match options["does"]:
                case "show":
                    self._show(tenant)
                case "diff":
                    lines = policy_diff(actor, _read(options["file"]))
                    self.stdout.write("\n".join(lines) or "no difference")
                case "set":
                    self._activated(policy_activate(actor, _read(options["file"]), options["reason"]))
                case "preset":
                    self._activated(policy_activate(actor, preset(options["name"]), options["reason"]))

    def _show(self, tenant: Tenant) -> None:
        with tenant_context(tenant.id):
            active = active_policy()
        document = Policy.model_dump(active.policy, mode="json")
        self.stdout.write(f"# {tenant.slug}, version {active.number}")
        self.stdout.write(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))

    def _activated(self, version: Any) -> None:
        self.stdout.write(f"policy version {version.number} is active")
        for line in version.changes:
            self.stdout.write(f"  {line}")


def _read(name: str) -> Mapping[str, Any]:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        document = yaml.safe_load(text)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} is neither YAML nor JSON: {error}") from None
    if not isinstance(document, dict):
        raise CommandError(f"{name} holds no policy: expected names with values")
    return document

"""`agent create --tenant SLUG --name N --role R`: registers an agent and prints its key once."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from memory.domain.scopes import GrantRule, parse_grant
from memory.management.named import refusals_told, tenant_named
from memory.services.tenancy import agent_create, key_create
from tenants.principals import system


class Command(BaseCommand):
    help = "Register an agent with its grants and print its first key, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(dest="does", required=True, metavar="create")
        create = does.add_parser("create", help="a new agent with one key")
        create.add_argument("--tenant", required=True, metavar="SLUG")
        create.add_argument("--name", required=True)
        create.add_argument("--role", required=True, help="such as coder or orchestrator")
        create.add_argument(
            "--grant",
            action="append",
            default=[],
            type=_grant,
            metavar="PATTERN=VERBS",
            help="such as 'project:alpha=rw' (r read, w write, p propose); may be repeated",
        )
        create.add_argument("--trust-ceiling", type=float, default=1.0, metavar="0..1")
        create.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = tenant_named(options["tenant"])
        actor = system(tenant.id, "cli.agent_create")
        with refusals_told(), transaction.atomic():
            agent = agent_create(actor, options["name"], options["role"], options["grant"])
            new = key_create(actor, agent, name="first key", trust_ceiling=options["trust_ceiling"])
        if options["json"]:
            made = {
                "tenant": tenant.slug,
                "agent": agent.name,
                "agent_id": f"agt_{agent.id.hex}",
                "key": new.text,
            }
            self.stdout.write(json.dumps(made))
            return
        self.stdout.write(f"agent {agent.name} ({agent.role}) created in {tenant.slug}")
        self.stdout.write(f"key (shown only now): {new.text}")


def _grant(text: str) -> GrantRule:
    try:
        return parse_grant(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None

"""`tenant create SLUG --owner EMAIL`, `tenant list`, `tenant purge`, `tenant operator EMAIL`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from memory.management.named import refusals_told
from memory.services.people import person_find_or_create
from memory.services.tenancy import member_add, tenant_create
from memory.services.tenant_ends import tenants_end
from tenants.models import Role, Tenant, User
from tenants.principals import system


class Command(BaseCommand):
    help = "Create a tenant with its owner, list the tenants, or delete those whose day has come."

    def add_arguments(self, parser: ArgumentParser) -> None:
        does = parser.add_subparsers(dest="does", required=True, metavar="create|list|purge|operator")
        create = does.add_parser("create", help="a new tenant; the owner's password is shown once")
        create.add_argument("slug", help="its name in addresses: a-z, 0-9 and hyphens")
        create.add_argument("--owner", required=True, metavar="EMAIL")
        create.add_argument("--name", default="", help="its name for people")
        create.add_argument("--json", action="store_true")
        listing = does.add_parser("list", help="all tenants")
        listing.add_argument("--json", action="store_true")
        operator = does.add_parser("operator", help="let a person make and close tenants in the browser")
        operator.add_argument("email", metavar="EMAIL")
        operator.add_argument("--off", action="store_true", help="take it back")
        purge = does.add_parser("purge", help="delete the tenants whose time of grace is over, for good")
        purge.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["does"] == "list":
            self._list(options["json"])
            return
        if options["does"] == "purge":
            self._purge(options["json"])
            return
        if options["does"] == "operator":
            self._operator(options["email"], not options["off"])
            return
        with refusals_told(), transaction.atomic():
            owner = person_find_or_create(options["owner"])
            tenant = tenant_create(options["slug"], options["name"])
            member_add(system(tenant.id, "cli.tenant_create"), owner.user, Role.OWNER)
        if options["json"]:
            made = {"tenant": tenant.slug, "owner": owner.user.email, "password": owner.password}
            self.stdout.write(json.dumps(made))
            return
        self.stdout.write(f"tenant {tenant.slug} created; its owner is {owner.user.email}")
        if owner.password:
            self.stdout.write(f"password (shown only now): {owner.password}")
        else:
            self.stdout.write("the owner had an account already and keeps its password")

    def _operator(self, email: str, on: bool) -> None:
        with refusals_told(), transaction.atomic():
            person = person_find_or_create(email)
            User.objects.filter(id=person.user.id).update(is_operator=on)
        self.stdout.write(f"{person.user.email} is {'an' if on else 'no'} operator")
        if person.password:
            self.stdout.write(f"password (shown only now): {person.password}")

    def _purge(self, as_json: bool) -> None:
        ended = tenants_end()
        if as_json:
            self.stdout.write(json.dumps(ended))
            return
        for slug, what in ended.items():
            self.stdout.write(f"{slug}  {what}")
        if not ended:
            self.stdout.write("no tenant is due")

    def _list(self, as_json: bool) -> None:
        rows = list(Tenant.objects.order_by("slug").values("slug", "name", "status"))
        if as_json:
            self.stdout.write(json.dumps(rows))
            return
        for row in rows:
            self.stdout.write(f"{row['slug']}  {row['name']}  {row['status']}")

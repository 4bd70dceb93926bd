"""What `backup` and `restore-backup` share: the superuser's way to the database, refusals as the command's error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memgov import env
from memgov.backups.errors import BackupError
from memgov.backups.restoring import Place
from memgov.embedded import runtime
from memgov.embedded.datadir import passwords
from memgov.embedded.postgres import SUPERUSER

OWNER, APP = "owner", "default"


def admin_url() -> str:
    """MEMGOV_ADMIN_DATABASE_URL, else the superuser of our own servers, else the owner's URL (which is refused with
    the reason unless it may see all rows)."""
    if given := env.text("MEMGOV_ADMIN_DATABASE_URL"):
        return given
    url = str(settings.MIGRATION_DATABASE_URL)
    running = runtime.read(settings.DATA_DIR)
    if running and running.get("owner_url") == url:
        return make_conninfo(url, user=SUPERUSER, password=passwords(settings.DATA_DIR)["superuser"])
    return url


def place() -> Place:
    """Where a backup goes: the database of the settings."""
    known = {alias: connections[alias].settings_dict for alias in (OWNER, APP)}
    url, name = admin_url(), str(known[APP]["NAME"])
    if str(conninfo_to_dict(url).get("dbname") or "") != name:
        raise CommandError(f"MEMGOV_ADMIN_DATABASE_URL names another database than DATABASE_URL ({name})")
    given = {role: str(one["PASSWORD"]) for one in known.values() if (role := one["USER"])}
    return Place(url, given.get("memgov_owner", ""), given.get("memgov_app", ""))


@contextmanager
def refusals() -> Iterator[None]:
    """What cannot be done ends the command with one line and exit code 1."""
    try:
        yield
    except BackupError as error:
        raise CommandError(str(error)) from None


@contextmanager
def looking_at(database: str) -> Iterator[None]:
    """Django's connections go to another database of the same server meanwhile."""
    before = {alias: connections[alias].settings_dict["NAME"] for alias in (OWNER, APP)}
    try:
        for alias in before:
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = database
        yield
    finally:
        for alias, name in before.items():
            connections[alias].close()
            connections[alias].settings_dict["NAME"] = name

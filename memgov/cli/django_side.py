"""The part of the command line that imports Django; reached only through `delegate`."""

from __future__ import annotations

import django
from django.core.management import ManagementUtility

from memgov.processes import prepare


def call(arguments: list[str]) -> int:
    """One management command as if typed after `manage.py`."""
    ManagementUtility(["memgov", *arguments]).execute()
    return 0


def migrate_and_call(arguments: list[str]) -> int:
    """The same on servers that were started for it, whose database may be new or of an older version."""
    django.setup()
    prepare.migrate(verbosity=0)
    return call(arguments)

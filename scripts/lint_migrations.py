"""django-migration-linter over our own migrations, by its Python interface: it stays out of the settings.

Called by `django_checks.py`, which brings the servers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import django
from django_migration_linter import MigrationLinter

# The schema of the first release: no version of the product ran before it that it could break.  From
# the first release on nothing is added here; a migration is made safe instead.
FIRST_SCHEMA = ("0001_initial", "0002_boundary", "0003_working_memory", "0004_vocabulary_and_claims")
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """1 when a migration would break the version that still runs while it is applied."""
    django.setup()
    linter = MigrationLinter(
        str(ROOT),
        include_apps=["memory", "tenants"],
        ignore_name=FIRST_SCHEMA,
        quiet=["ignore"],
        database="owner",
        no_cache=True,
    )
    linter.lint_all_migrations()
    linter.print_summary()
    return 1 if linter.has_errors else 0


if __name__ == "__main__":
    sys.exit(main())

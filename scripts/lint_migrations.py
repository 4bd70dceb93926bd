"""django-migration-linter over our own migrations, by its Python interface: it stays out of the settings.

Called by `django_checks.py`, which brings the servers.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import django
from django_migration_linter import MigrationLinter

ROOT = Path(__file__).resolve().parent.parent
APPS = ("memory", "tenants")
# The last migration of each app in the newest release: what comes later must not break that version
# while it still runs.  Nothing has been released yet, so nothing can be broken; fill in at a release.
RELEASED: dict[str, str] = {}
# What matters only beside a running older version.
COMPATIBILITY = (
    "RENAME_TABLE", "NOT_NULL", "DROP_COLUMN", "DROP_TABLE", "RENAME_COLUMN", "ALTER_COLUMN", "ADD_UNIQUE",
    "CREATE_INDEX", "CREATE_INDEX_EXCLUSIVE", "DROP_INDEX", "REINDEX",
)  # fmt: skip


def lint(app: str) -> bool:
    """Whether the app's migrations are as they should be: reversible always, compatible after a release."""
    linter = _linter(app, silent=True)
    linter.lint_all_migrations()
    print(f"{app}: {linter.nb_valid} migrations are well, {linter.nb_erroneous} are not")
    if linter.has_errors:
        _linter(app, silent=False).lint_all_migrations()
    return not linter.has_errors


def _linter(app: str, *, silent: bool) -> MigrationLinter:
    return MigrationLinter(
        str(ROOT),
        include_apps=[app],
        ignore_name=_released(app),
        exclude_migration_tests=() if app in RELEASED else COMPATIBILITY,
        all_warnings_as_errors=True,
        no_output=silent,  # it would print what is excluded too
        database="owner",
        no_cache=True,
    )


def _released(app: str) -> list[str]:
    names = sorted(path.stem for path in (ROOT / app / "migrations").glob("0*.py"))
    return [name for name in names if name <= RELEASED.get(app, "")]


def main() -> int:
    """1 when a migration is not as it should be."""
    django.setup()
    logging.getLogger("django_migration_linter").setLevel(logging.WARNING)
    return 0 if all(list(map(lint, APPS))) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Making and dropping the months of the manifest tables.  Tables belong to the owner: two functions of the database
do it, and refuse what is younger than a day, whoever asks."""

from __future__ import annotations

from datetime import date

from django.db import IntegrityError, OperationalError, connection, transaction


def add(month: date) -> bool | None:
    """Make the month; False when it is there, None when it cannot be made now: somebody holds the table for long, or
    rows of the month stand in the rest already, where they are found as well."""
    return _call("SELECT memgov.manifest_month_add(%s)", month)


def drop(month: date) -> bool | None:
    """Drop the month with all its rows; False when it is not there, None when somebody holds the table for long."""
    return _call("SELECT memgov.manifest_month_drop(%s)", month)


def _call(sql: str, month: date) -> bool | None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, [month])
            return bool(cursor.fetchone()[0])
    except (OperationalError, IntegrityError):
        return None

"""The project's database backend, beside Django's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DataError, connection, connections


@pytest.mark.parametrize(
    "written", ["2026-11-30 14:02:10", "2026-11-30 14:02:10.5", "2026-11-30 14:02:10.123456"]
)
def test_times__come_as_utc(database: None, written: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz, %s::timestamptz", [f"{written}+00", f"{written}+02"])
        at_zero, at_two = cursor.fetchone()
    assert at_zero == datetime.fromisoformat(written).replace(tzinfo=UTC)
    assert at_zero.tzinfo is UTC and at_two.tzinfo is UTC
    assert at_zero - at_two == timedelta(hours=2)


@pytest.mark.parametrize("beyond", ["infinity", "-infinity", "12026-01-01", "0044-03-15 BC"])
def test_times_that_python_has_not__are_the_driver_s_fault__not_another_time(
    database: None, beyond: str
) -> None:
    with connection.cursor() as cursor, pytest.raises(DataError):
        cursor.execute("SELECT %s::timestamptz", [beyond])
        cursor.fetchone()


@pytest.mark.parametrize("alias", ["default", "owner"])
def test_failed_statements__do_not_come_into_the_log_with_their_texts(database: None, alias: str) -> None:
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('log_min_error_statement'), current_setting('log_error_verbosity')"
        )
        assert cursor.fetchone() == ("panic", "terse")

"""Whether a kept connection still lives."""

from __future__ import annotations

import select

import psycopg
import pytest
from django.db import connection

pytestmark = pytest.mark.usefixtures("database")


def backend() -> int:
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


def something_to_read() -> None:
    """Wait until what the server sent has come."""
    waiting, _, _ = select.select([connection.connection.fileno()], [], [], 10)
    assert waiting


def test_is_usable__of_a_living_connection__asks_the_server_nothing(superuser_url: str) -> None:
    pid = backend()
    with psycopg.connect(superuser_url, autocommit=True) as observer:
        asked = "SELECT query_start FROM pg_stat_activity WHERE pid = %s"
        before = observer.execute(asked, [pid]).fetchone()
        assert connection.is_usable()
        assert observer.execute(asked, [pid]).fetchone() == before


def test_is_usable__after_the_server_ended_it__says_no(superuser_url: str) -> None:
    pid = backend()
    with psycopg.connect(superuser_url, autocommit=True) as observer:
        observer.execute("SELECT pg_terminate_backend(%s)", [pid])
    something_to_read()
    assert not connection.is_usable()
    connection.close()


def test_is_usable__with_a_notice_waiting__asks_the_server_and_says_yes(superuser_url: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN memgov_test")
    with psycopg.connect(superuser_url, autocommit=True) as observer:
        observer.execute("NOTIFY memgov_test")
    something_to_read()
    assert connection.is_usable()
    connection.close()

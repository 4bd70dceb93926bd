"""A database server that is killed in the middle of a call: 503, and the next call is served.

What a killed server leaves is a socket that its other end has closed.  Here that is done to the connection of the
call, after each of its statements in turn; so every way of speaking to the server meets it, that which prepares a
statement among them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, close_old_connections, connection

from memgov.postgres.prepared import Prepared
from memory.models import Memory
from tests.api.caller import Caller
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")

FACT = "The port of the billing gateway is 8443."
CALLS: dict[str, Callable[[Caller], Any]] = {
    "retrieve": lambda coder: coder.post("retrieve", {"query": "which port has the gateway"}),
    "digest": lambda coder: coder.get("digest?scope=project:alpha"),
    "write": lambda coder: coder.post(
        "memories", {"content": FACT, "scope": "project:alpha", "origin": "tool_verified"}
    ),
    "list": lambda coder: coder.get("memories"),
}


def cut() -> None:
    """Close the socket under the connection, as the end of the server does."""
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as wire:
        wire.shutdown(socket.SHUT_RDWR)


class CutAfter:
    """Wraps the statements of a connection, and cuts it after so many of them."""

    def __init__(self, statements: int) -> None:
        self.left, self.done = statements, False

    def __call__(self, execute: Callable[..., Any], *call: Any) -> Any:
        result = execute(*call)
        self.left -= 1
        if not self.left and not self.done:
            cut()
            self.done = True
        return result


@pytest.fixture
def stage() -> Stage:
    return make_tenant()


def test_prepared__of_a_server_that_is_gone__is_djangos_own_error() -> None:
    connection.close()
    connection.ensure_connection()
    cut()
    with pytest.raises(OperationalError):
        Prepared("never_prepared_before", "SELECT $1::int")([1])
    close_old_connections()
    with connection.cursor() as cursor:
        cursor.execute(*Prepared("never_prepared_before", "SELECT $1::int")([1]))
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize("name", CALLS)
def test_call__server_killed_after_each_statement__is_503_and_the_next_is_served(
    stage: Stage, name: str
) -> None:
    coder, call, lost = Caller(stage.coder), CALLS[name], 0
    for statements in range(1, 40):
        connection.close()  # nothing is prepared on a new connection
        after = CutAfter(statements)
        with connection.execute_wrapper(after):
            answer = call(coder)
        close_old_connections()  # as at the start of each request
        if answer.status_code == 503:
            assert answer.json()["code"] == "database_unavailable" and answer["Retry-After"]
            lost += 1
        else:
            assert answer.status_code in (200, 201), (statements, answer.content)
        if not after.done:
            break
    assert lost >= 2, "positive control: some calls were cut in the middle"
    assert call(coder).status_code in (200, 201)
    with stage.context():
        assert Memory.objects.count() == (name == "write"), "nothing half done, nothing twice"

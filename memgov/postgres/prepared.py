"""Statements that a connection plans once and then only executes.

For what every call asks: planning such a statement costs as much as answering it (0.4 of 0.5 ms for the look-up of a
key, half of storing a memory).  SQL's own PREPARE and EXECUTE, because an EXECUTE can travel in one message with other
statements.  A pooler that hands out a connection per transaction (PgBouncer) cannot keep them: there
`MEMGOV_PREPARED_STATEMENTS=false` sends the statements whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import connection

_NUMBER = re.compile(r"\$(\d+)")
# Of each open connection, the names that it has prepared.  A new connection starts with none.
_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


class Prepared:
    """One statement, with `$1`, `$2`, … for its values.  Its name is for the log and has to be its own."""

    def __init__(self, name: str, sql: str) -> None:
        self._name = f"memgov_{name}"
        self._prepare = f"PREPARE {self._name} AS {sql}".encode()
        self._order = [int(number) - 1 for number in _NUMBER.findall(sql)]
        self._whole = _NUMBER.sub("%s", sql.replace("%", "%%"))
        self._execute = f"EXECUTE {self._name}({', '.join(['%s'] * len(set(self._order)))})"

    def __call__(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """What to give to a cursor of the default connection, or to `with_commit`: a statement and its parameters."""
        if not settings.MEMGOV_PREPARED_STATEMENTS:
            return self._whole, [values[at] for at in self._order]
        connection.ensure_connection()
        known = _prepared.setdefault(connection.connection, set())
        if self._name not in known:
            # It outlives the transaction, whatever becomes of that.
            connection.connection.execute(self._prepare)
            known.add(self._name)
        return self._execute, list(values)

"""Statements that a connection plans once and then only executes.

For what every call asks: planning such a statement costs as much as answering it (0.4 of 0.5 ms for the look-up of a
key, half of storing a memory).  SQL's own PREPARE and EXECUTE, because an EXECUTE can travel in one message with other
statements.  A pooler that hands out a connection per transaction (PgBouncer) cannot keep them: there
`MEMGOV_PREPARED_STATEMENTS=false` sends the statements whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

_NAMED = re.compile(r"%\((\w+)\)s")
_NUMBER = re.compile(r"\$(\d+)")

# Of each open connection, the names that it has prepared.  A new connection starts with none.
_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


class Prepared:
    """One statement, with `$1`, `$2`, … or `%(name)s` for its values.  Its name, seen in logs, is its own."""

    def __init__(self, name: str, sql: str) -> None:
        self._names = list(dict.fromkeys(_NAMED.findall(sql)))
        if self._names:
            sql = _NAMED.sub(lambda found: f"${self._names.index(found[1]) + 1}", sql).replace("%%", "%")
        self._name = f"memgov_{name}"
        self._prepare = f"PREPARE {self._name} AS {sql}".encode()
        self._order = [int(number) - 1 for number in _NUMBER.findall(sql)]
        self._whole = _NUMBER.sub("%s", sql.replace("%", "%%"))
        self._execute = f"EXECUTE {self._name}({', '.join(['%s'] * len(set(self._order)))})"

    def of(self, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The same for a statement whose values have names; others are passed over."""
        return self([values[name] for name in self._names])

    def __call__(self, values: Sequence[Any]) -> tuple[str, list[Any]]:
        """What to give to a cursor of the default connection, or to `with_commit`: a statement and its parameters."""
        if not settings.MEMGOV_PREPARED_STATEMENTS:
            return self._whole, [values[at] for at in self._order]
        database = connections[DEFAULT_DB_ALIAS]  # looked up once: each use of `connection` does it again
        if database.connection is not None:
            database.close_if_health_check_failed()  # or a cursor would, and open one that knows nothing
        database.ensure_connection()
        known = _prepared.setdefault(database.connection, set())
        if self._name not in known:
            # It outlives the transaction, whatever becomes of that.  A server that went away is the same fault here
            # as anywhere.
            with database.wrap_database_errors:
                database.connection.execute(self._prepare)
            known.add(self._name)
        return self._execute, list(values)


def named_after(sql: str, what: str) -> Prepared:
    """A statement whose text is put together from parts: its name tells one text from another."""
    return Prepared(f"{what}_{sha256(sql.encode()).hexdigest()[:12]}", sql)

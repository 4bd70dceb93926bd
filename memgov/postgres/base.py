"""The database backend of the settings (`ENGINE`); Django finds `DatabaseWrapper` here by its name."""

from __future__ import annotations

import select
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import BaseTzLoader


class UtcLoader(BaseTzLoader):
    """Reads times by the standard library's parser: of a retrieval's rows, theirs took longest to read."""

    timezone = UTC

    def load(self, data: Any) -> Any:
        """The instant; what that parser does not know, such as infinity, is left to the driver's."""
        try:
            instant = datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            return super().load(data)
        return instant if instant.tzinfo is UTC else super().load(data)


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks the socket, not the server, whether a connection that waited since the last request is still good.

    A server that went away has closed the socket, or has said why in it: then there is something to read where
    nothing was asked.  Only then the server is asked, as Django would at every request, for a round trip each.
    A connection that died without a word, such as behind a lost network, is found by the keepalives.
    """

    def get_new_connection(self, conn_params: Any) -> Any:
        """A connection whose times are read fast."""
        connection = super().get_new_connection(conn_params)
        if self.timezone is UTC:
            connection.adapters.register_loader("timestamptz", UtcLoader)
        return connection

    def init_connection_state(self) -> None:
        """As Django has it, and what is prepared is planned once.

        Left to itself PostgreSQL would plan the search of a retrieval anew each time, because knowing the scopes makes
        it expect less; planning takes longer than the search of a small tenant.  So prepared statements have to be
        such that there is one good plan, whatever the values.
        """
        super().init_connection_state()
        if settings.MEMGOV_PREPARED_STATEMENTS:
            self.connection.execute("SET plan_cache_mode = force_generic_plan")

    def is_usable(self) -> bool:
        """Whether the connection can be used."""
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0) or bool(super().is_usable())

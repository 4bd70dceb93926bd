"""The database backend of the settings (`ENGINE`); Django finds `DatabaseWrapper` here by its name."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks the socket, not the server, whether a connection that waited since the last request is still good.

    A server that went away has closed the socket, or has said why in it: then there is something to read where
    nothing was asked.  Only then the server is asked, as Django would at every request, for a round trip each.
    A connection that died without a word, such as behind a lost network, is found by the keepalives.
    """

    def is_usable(self) -> bool:
        """Whether the connection can be used."""
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0) or bool(super().is_usable())

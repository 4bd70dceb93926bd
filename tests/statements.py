"""What a block asked of the database, statement by statement.

Statements that belong together travel in one message; what only frames the work (BEGIN, the naming of the tenant,
COMMIT, savepoints) is no work and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET LOCAL MEMGOV.TENANT_ID")


def statements(captured: Iterable[Mapping[str, str]]) -> list[str]:
    """The statements of a `CaptureQueriesContext`."""
    parts = [part.strip() for query in captured for part in query["sql"].split(";\n")]
    return [part for part in parts if part and not part.upper().startswith(_FRAME)]

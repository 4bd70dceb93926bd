"""Whether the search index says of each memory what the memory says."""

from __future__ import annotations

from typing import Any

from django.db import connection

from memory.store.search_index import REPEATED
from tests.factories import Stage

_DIFFER = f"""
SELECT i.memory_id, {", ".join(f"(i.{name}, {value})::text" for name, value in REPEATED.items())}
  FROM memory_index i JOIN memory_memory m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
 WHERE i.tenant_id = %s AND ({" OR ".join(f"i.{name} IS DISTINCT FROM {value}" for name, value in REPEATED.items())})
"""


def out_of_step(stage: Stage) -> list[Any]:
    """Rows of the index that repeat something else than their memory."""
    with stage.context(), connection.cursor() as cursor:
        cursor.execute(_DIFFER, [stage.tenant.id])
        return cursor.fetchall()

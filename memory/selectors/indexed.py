"""What the search index holds of the memories, beside what they say now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from memory.models import MemoryIndex
from tenants.context import current_tenant_id


@dataclass(frozen=True, slots=True)
class Indexed:
    """One row of the index with the text that it was made of."""

    id: UUID
    version: int
    content: str
    terms: list[str]
    model_id: str
    has_vector: bool


_AFTER: Final = """
SELECT m.id, m.version, m.content, i.terms, i.model_id, i.embedding IS NOT NULL
  FROM memory_index i JOIN memory_memory m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
 WHERE i.tenant_id = %s AND i.memory_id > %s
 ORDER BY i.memory_id LIMIT %s
"""


def indexed_count() -> int:
    """Rows of the present tenant's index."""
    return MemoryIndex.objects.count()


def indexed_after(last: UUID, most: int) -> list[Indexed]:
    """The next rows by id."""
    with connection.cursor() as cursor:
        cursor.execute(_AFTER, [current_tenant_id(), last, most])
        return [Indexed(*row) for row in cursor.fetchall()]

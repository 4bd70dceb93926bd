"""What the search index holds of the memories that may be found, beside what they say now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from memory.domain.lifecycle import READABLE
from memory.models import Memory
from tenants.context import current_tenant_id


@dataclass(frozen=True, slots=True)
class Indexed:
    """One memory and its row of the index; without one `terms` is None."""

    id: UUID
    version: int
    content: str
    terms: list[str] | None
    model_id: str | None
    has_vector: bool


_AFTER: Final = """
SELECT m.id, m.version, m.content, i.terms, i.model_id, i.embedding IS NOT NULL
  FROM memory_memory m LEFT JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
 WHERE m.tenant_id = %s AND m.id > %s AND m.status = ANY(%s)
 ORDER BY m.id LIMIT %s
"""


def indexed_count() -> int:
    """Memories of the present tenant that may be found."""
    return Memory.objects.filter(status__in=READABLE).count()


def indexed_after(last: UUID, most: int) -> list[Indexed]:
    """The next memories by id."""
    with connection.cursor() as cursor:
        cursor.execute(_AFTER, [current_tenant_id(), last, list(READABLE), most])
        return [Indexed(*row) for row in cursor.fetchall()]

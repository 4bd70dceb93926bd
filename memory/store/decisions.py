"""Writing what became of each candidate."""

from __future__ import annotations

from typing import Final

from django.db import connection

from memory.models import WriteDecision
from tenants.context import current_tenant_id

# Bound by hand and not by the ORM: every write makes one of these.
_FIELDS: Final = {field.column: field for field in WriteDecision._meta.concrete_fields if field.column}
_INSERT: Final = (
    f"INSERT INTO memory_writedecision ({', '.join(_FIELDS)}) VALUES ({', '.join('%s' for _ in _FIELDS)})"
)


def insert(decision: WriteDecision) -> None:
    """Store a decision."""
    decision.tenant_id = current_tenant_id()
    values = [
        field.get_db_prep_save(getattr(decision, field.attname), connection) for field in _FIELDS.values()
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)

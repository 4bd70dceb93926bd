"""Writing what became of each candidate."""

from __future__ import annotations

from django.db import connection

from memory.models import WriteDecision
from memory.store.rows import row_json
from tenants.context import current_tenant_id

_INSERT = """
INSERT INTO memory_writedecision SELECT * FROM json_populate_record(NULL::memory_writedecision, %s)
"""


def insert(decision: WriteDecision) -> None:
    """Store a decision."""
    decision.tenant_id = current_tenant_id()
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [row_json(decision)])

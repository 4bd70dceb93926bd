"""Writing what became of each candidate."""

from __future__ import annotations

from django.db import connection

from memgov.postgres.prepared import Prepared
from memory.models import WriteDecision
from memory.store.rows import row_json
from tenants.context import current_tenant_id, with_commit

_INSERT = Prepared(
    "decision_insert",
    "INSERT INTO memory_writedecision SELECT * FROM json_populate_record(NULL::memory_writedecision, $1)",
)


def insert(decision: WriteDecision, *, at_once: bool) -> None:
    """Store a decision: at once if the transaction still looks for it, else in one message with the COMMIT."""
    decision.tenant_id = current_tenant_id()
    statement = _INSERT([row_json(decision)])
    if not at_once:
        with_commit(*statement)
        return
    with connection.cursor() as cursor:
        cursor.execute(*statement)

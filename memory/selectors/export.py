"""The rows of a tenant as JSON objects, table by table, for its export.

Every tenant table stands in one of the two lists; a test holds that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from django.db import connection

from memory.models.columns import TENANT, columns_of, model_of
from tenants.context import current_tenant_id

EXPORTED: Final = (
    "tenants_membership", "tenants_agent", "tenants_grant", "memory_scoperecord", "memory_policyversion",
    "memory_policydraft", "memory_vocabularyhead", "memory_subjectalias", "memory_predicatesetting", "memory_memory",
    "memory_revision", "memory_mount", "memory_mountentry", "memory_mounthead", "memory_promotionrequest",
    "memory_promotiondecision", "memory_promotionnote",
    "memory_contradiction", "memory_writedecision", "memory_workrun",
    "memory_workingvalue", "memory_manifest", "memory_manifestentry", "memory_healthsnapshot", "memory_healthsample",
    "memory_sampleitem", "memory_alertrule", "memory_alert", "memory_sweeprun", "memory_auditcheckpoint",
    "memory_auditevent", "memory_audithead",
)  # fmt: skip
"""In the order of an import: what is referred to comes first."""

LEFT_OUT: Final = {
    "tenants_agentkey": "credentials; agents get new keys",
    "tenants_invitation": "holds the hash of a secret; people are invited again",
    "memory_alertchannel": "holds a secret; channels are set up again",
    "memory_alertdelivery": "belongs to the channels",
    "memory_index": "built anew from the memories",
    "memory_job": "work under way, and the record of an import",
    "memory_idempotencykey": "answers of the last day, by key",
}
_CHUNK: Final = 2_000


def snapshot() -> None:
    """Let the present transaction see one instant of the database; as its first statement."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def counts() -> dict[str, int]:
    """How many rows each exported table has."""
    found = {}
    with connection.cursor() as cursor:
        for table in EXPORTED:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [current_tenant_id()])
            found[table] = int(cursor.fetchone()[0])
    return found


def rows(table: str) -> Iterator[dict[str, Any]]:
    """The rows of a table in the order of their key, without the tenant, from a server-side cursor."""
    key = [column for column in _key_of(table) if column != TENANT]
    order = "seq" if table == "memory_auditevent" else ", ".join(f'"{column}"' for column in key)
    names = ", ".join(f't."{column}"' for column in columns_of(table))
    sql = f"SELECT to_jsonb(r) FROM (SELECT {names} FROM {table} t WHERE tenant_id = %s ORDER BY {order}) r"
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, [current_tenant_id()])
        while chunk := cursor.fetchmany(_CHUNK):
            for (text,) in chunk:
                row: dict[str, Any] = json.loads(text)
                yield row


def _key_of(table: str) -> list[str]:
    return [str(field.column) for field in model_of(table)._meta.pk_fields]

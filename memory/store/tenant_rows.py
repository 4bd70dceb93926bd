"""Rows of an export into their tables, many in one statement, as they stand: no rule looks at them here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import JSONField

from memory.models.columns import TENANT, fields_of
from tenants.context import current_tenant_id


def insert(table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of one table into the current tenant.  Raises IntegrityError and DataError."""
    tenant = str(current_tenant_id())
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(table), [json.dumps([{**row, TENANT: tenant} for row in rows], default=str)]
        )


@lru_cache(maxsize=64)
def _statement(table: str) -> str:
    """JSON's null is SQL's NULL where a column may be that, else it is a JSON null."""
    names, values = [f'"{TENANT}"'], [f'r."{TENANT}"']
    for field in fields_of(table):
        names.append(f'"{field.column}"')
        kept = isinstance(field, JSONField) and not field.null
        values.append(f"coalesce(r.\"{field.column}\", 'null'::jsonb)" if kept else f'r."{field.column}"')
    return (
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)}"
        f" FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb) r"
    )


def link(links: Sequence[tuple[str, str | None, str | None]]) -> None:
    """Tie memories to those that replaced them or took them in: (id, superseded_by, merged_into)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_memory m SET superseded_by = l.s, merged_into = l.m"
            " FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[]) AS l(id, s, m)"
            " WHERE m.tenant_id = %s AND m.id = l.id",
            [*(list(column) for column in zip(*links, strict=True)), current_tenant_id()],
        )

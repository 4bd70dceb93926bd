"""Migration operations that put a tenant table behind the database's own locks.

One SQL statement for each operation, so that a migration can run unchanged on a sharded database.
"""

from __future__ import annotations

from django.db.migrations.operations import RunSQL

TENANT_IS_CURRENT = "tenant_id = nullif(current_setting('memgov.tenant_id', true), '')::uuid"


def secure(table: str) -> list[RunSQL]:
    """Row-level security on ``table``, forced for its owner too: no tenant set, no rows."""
    return [
        RunSQL(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY", RunSQL.noop),
        RunSQL(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY", RunSQL.noop),
        RunSQL(
            f"CREATE POLICY tenant_isolation ON {table} USING ({TENANT_IS_CURRENT}) WITH CHECK ({TENANT_IS_CURRENT})",
            f"DROP POLICY tenant_isolation ON {table}",
        ),
    ]


def reference(
    table: str, column: str, target: str, *, on_delete: str = "CASCADE", deferred: bool = False
) -> RunSQL:
    """A foreign key on (tenant_id, column): another tenant's row can never be referred to.

    `deferred` checks it at commit, for rows that name one another.

    A plain foreign key would pass row-level security (the check runs as the table's owner).
    """
    name = f"{table}_{column}_same_tenant"
    return RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (tenant_id, {column})"
        f" REFERENCES {target} (tenant_id, id) ON DELETE {on_delete}"
        + (" DEFERRABLE INITIALLY DEFERRED" if deferred else ""),
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )

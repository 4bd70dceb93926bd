"""Values in time: one that begins later stands beside what holds until then, and the search index knows both ends."""

from django.db import migrations, models

INDEX_COLUMNS = "ALTER TABLE memory_index ADD COLUMN valid_from timestamptz, ADD COLUMN valid_to timestamptz"
FILL = """
UPDATE memory_index i SET valid_from = m.valid_from, valid_to = m.valid_to
  FROM memory_memory m
 WHERE m.tenant_id = i.tenant_id AND m.id = i.memory_id AND (m.valid_from IS NOT NULL OR m.valid_to IS NOT NULL)
"""
WAITING = """
UPDATE memory_memory SET begins_at = valid_from
 WHERE valid_from > now() AND status IN ('live', 'contested', 'candidate', 'quarantined')
"""
TABLES = ("memory_memory", "memory_index", *(f"memory_index_{number:02}" for number in range(16)))
LIVE = ("live", "contested")


def _plain(sql: str) -> migrations.RunSQL:
    return migrations.RunSQL(sql, migrations.RunSQL.noop)


class Migration(migrations.Migration):
    dependencies = [("memory", "0024_audit_lock"), ("tenants", "0006_language")]

    operations = [
        migrations.AddField("memory", "begins_at", models.DateTimeField(null=True)),
        migrations.RunSQL(
            INDEX_COLUMNS, "ALTER TABLE memory_index DROP COLUMN valid_from, DROP COLUMN valid_to"
        ),
        # The owner changes every tenant's rows in between: row-level security is forced for it, but not here.
        *(_plain(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY") for table in TABLES),
        _plain(FILL),
        _plain(WAITING),
        _plain("SET CONSTRAINTS ALL IMMEDIATE"),
        *(_plain(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY") for table in TABLES),
        migrations.RemoveConstraint("memory", "one_live_text"),
        migrations.RemoveConstraint("memory", "one_live_value"),
        migrations.AddConstraint(
            "memory",
            models.UniqueConstraint(
                fields=["tenant", "scope", "subject", "predicate", "claim", "begins_at"],
                condition=models.Q(status="live", single_valued=True),
                name="one_live_value",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            "memory",
            models.UniqueConstraint(
                fields=["tenant", "scope", "subject", "predicate", "value_hash", "begins_at"],
                condition=models.Q(status__in=LIVE, may_repeat=False),
                name="one_live_text",
                nulls_distinct=False,
            ),
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                fields=["tenant", "begins_at"],
                condition=models.Q(status__in=LIVE, begins_at__isnull=False),
                name="memory_waiting",
            ),
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                fields=["tenant", "valid_to"],
                condition=models.Q(status__in=LIVE, valid_to__isnull=False),
                name="memory_ending",
            ),
        ),
    ]

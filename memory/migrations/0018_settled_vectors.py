"""The vector index holds only rows that have settled, and only of tenants that it serves.

To put a vector into the index takes as long as all the rest of storing a memory (1.2 ms at 10,000 rows), and nobody
asks the index about a tenant of which every row is looked at anyway.  So rows come in outside of it, where a search
looks at each, and a sweep takes them in by batches once the tenant is large (`memory.services.sweeps.vectors`).
"""

from django.db import migrations


def _plain(sql: str, back: str = "") -> migrations.RunSQL:
    return migrations.RunSQL(sql, back or migrations.RunSQL.noop)


class Migration(migrations.Migration):
    dependencies = [("memory", "0017_revision_tenant")]

    operations = [
        _plain(
            "ALTER TABLE memory_index ADD COLUMN settled boolean NOT NULL DEFAULT false",
            "ALTER TABLE memory_index DROP COLUMN settled",
        ),
        _plain("DROP INDEX memory_index_vector"),
        _plain(
            "CREATE INDEX memory_index_vector ON memory_index USING hnsw (embedding halfvec_cosine_ops) WHERE settled",
            "CREATE INDEX memory_index_vector ON memory_index USING hnsw (embedding halfvec_cosine_ops)",
        ),
        _plain(
            "CREATE INDEX memory_index_unsettled ON memory_index (tenant_id, scope) WHERE NOT settled",
            "DROP INDEX memory_index_unsettled",
        ),
    ]

"""The search index with its partitions, and the database's own locks on every table of memory."""

from django.db import migrations

from tenants.rls import reference, secure

PARTITIONS = 16

INDEX_TABLE = """
CREATE TABLE memory_index (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    scope varchar(200) NOT NULL,
    terms text[] NOT NULL,
    term_count integer NOT NULL,
    embedding halfvec(384),
    model_id varchar(100) NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory_memory (tenant_id, id) ON DELETE CASCADE
) PARTITION BY HASH (tenant_id)
"""

TABLES = [
    "memory_auditcheckpoint",
    "memory_auditevent",
    "memory_audithead",
    "memory_contradiction",
    "memory_healthsnapshot",
    "memory_idempotencykey",
    "memory_job",
    "memory_manifest",
    "memory_manifestentry",
    "memory_memory",
    "memory_policyversion",
    "memory_promotiondecision",
    "memory_promotionrequest",
    "memory_revision",
    "memory_scoperecord",
    "memory_sweeprun",
    "memory_writedecision",
]


def _index_operations() -> list[migrations.RunSQL]:
    """One statement each: the table, its partitions, the indexes, then the locks on all of them."""
    partitions = [f"memory_index_{number:02}" for number in range(PARTITIONS)]
    return [
        migrations.RunSQL(INDEX_TABLE, "DROP TABLE memory_index"),
        *(
            migrations.RunSQL(
                f"CREATE TABLE {name} PARTITION OF memory_index"
                f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})",
                migrations.RunSQL.noop,
            )
            for number, name in enumerate(partitions)
        ),
        migrations.RunSQL(
            "CREATE INDEX memory_index_scope ON memory_index (tenant_id, scope)", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "CREATE INDEX memory_index_terms ON memory_index USING gin (terms)", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "CREATE INDEX memory_index_vector ON memory_index USING hnsw (embedding halfvec_cosine_ops)",
            migrations.RunSQL.noop,
        ),
        *(operation for name in ["memory_index", *partitions] for operation in secure(name)),
    ]


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial"), ("tenants", "0002_boundary")]

    operations = [
        *_index_operations(),
        *(operation for table in TABLES for operation in secure(table)),
        reference("memory_revision", "memory_id", "memory_memory"),
        reference("memory_memory", "superseded_by", "memory_memory", on_delete="NO ACTION", deferred=True),
        reference("memory_memory", "merged_into", "memory_memory", on_delete="NO ACTION", deferred=True),
        reference("memory_manifestentry", "manifest_id", "memory_manifest"),
        reference("memory_promotionrequest", "memory_id", "memory_memory"),
        reference("memory_promotionrequest", "result_memory_id", "memory_memory", on_delete="NO ACTION"),
        reference("memory_promotiondecision", "request_id", "memory_promotionrequest"),
        reference("memory_contradiction", "memory_a", "memory_memory"),
        reference("memory_contradiction", "memory_b", "memory_memory"),
        # The app only ever appends here; the trigger refuses the owner as well.
        migrations.RunSQL(
            "REVOKE UPDATE, DELETE, TRUNCATE ON memory_auditevent FROM memgov_app", migrations.RunSQL.noop
        ),
    ]

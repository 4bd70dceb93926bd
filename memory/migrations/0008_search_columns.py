"""The search index with all that the filters of a retrieval need, and the terms as a vector that is cheap to count in.

A search then reads one table, and no row of `memory_memory` that it does not return.  The table is made anew: the
columns that every search reads come first, before the wide ones.
"""

from django.db import migrations

from tenants.rls import secure

PARTITIONS = [f"memory_index_{number:02}" for number in range(16)]

# A number for a text: the same in every version and on every machine, which the server's own hashes are not.
TEXT_NUMBER = """
CREATE FUNCTION memgov.text_number(word text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || substr(md5(word), 1, 15))::bit(60)::bigint
"""

# Terms as a sparse vector: one dimension per term (by 28 bits of its digest), how often it occurs as the value.
# Seven is as good as more to BM25; `memory.selectors.candidates` reads eight terms at once as digits of base 8.
TERM_VECTOR = """
CREATE FUNCTION memgov.term_vector(terms text[]) RETURNS sparsevec LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT ('{' || coalesce(string_agg(place || ':' || least(times, 7), ',' ORDER BY place), '') || '}/268435456')::sparsevec
      FROM (SELECT (memgov.text_number(term) & 268435455) + 1 AS place, count(*) AS times FROM unnest(terms) AS term GROUP BY 1) each
)
"""

# Row-level security keeps an index of terms from being used: `&&` might tell what it is asked of other tenants' rows.
# This runs as a role that cannot sign in, and does the tenant's lock itself.
MEMORIES_WITH = """
CREATE FUNCTION memgov.memories_with(words text[], names text[]) RETURNS SETOF uuid LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public AS $$
    SELECT i.memory_id FROM public.memory_index i
     WHERE i.tenant_id = nullif(current_setting('memgov.tenant_id', true), '')::uuid
       AND i.scope = ANY(names) AND i.terms && words
$$
"""

INDEX_TABLE = """
CREATE TABLE memory_index (
    tenant_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    learned_at timestamptz NOT NULL,
    trust double precision NOT NULL,
    source bigint NOT NULL,
    run bigint NOT NULL,
    term_count integer NOT NULL,
    contested boolean NOT NULL,
    narrowed boolean NOT NULL,
    expires_at timestamptz,
    scope varchar(200) NOT NULL,
    layer varchar(20) NOT NULL,
    kind varchar(20) NOT NULL,
    model_id varchar(100) NOT NULL,
    tags text[] NOT NULL,
    paths text[] NOT NULL,
    term_vector sparsevec(268435456) GENERATED ALWAYS AS (memgov.term_vector(terms)) STORED,
    embedding halfvec(384),
    terms text[] NOT NULL,
    PRIMARY KEY (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory_memory (tenant_id, id) ON DELETE CASCADE
) PARTITION BY HASH (tenant_id)
"""

COPY = """
INSERT INTO memory_index (tenant_id, memory_id, learned_at, trust, source, run, term_count, contested, narrowed,
                          expires_at, scope, layer, kind, model_id, tags, paths, embedding, terms)
SELECT i.tenant_id, i.memory_id, m.learned_at, m.trust, memgov.text_number(m.agent_name || '/' || m.tool),
       CASE WHEN m.session = '' THEN 0 ELSE memgov.text_number(m.scope || ' ' || m.session) END, i.term_count,
       m.status = 'contested', cardinality(m.tags) + cardinality(m.paths) > 0, m.expires_at, m.scope, m.layer, m.kind,
       i.model_id, m.tags, m.paths, i.embedding, i.terms
  FROM memory_index_before i JOIN memory_memory m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
"""


def _plain(sql: str) -> migrations.RunSQL:
    return migrations.RunSQL(sql, migrations.RunSQL.noop)


def _rows_of_all_tenants(*operations: migrations.RunSQL) -> list[migrations.RunSQL]:
    """The owner reads every tenant's rows in between: row-level security is forced for it, but not here."""
    tables = ("memory_memory", "memory_index_before", *(f"before_{name}" for name in PARTITIONS))
    return [
        *(_plain(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY") for table in tables),
        *operations,
        *(_plain(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY") for table in tables),
    ]


class Migration(migrations.Migration):
    dependencies = [("memory", "0007_mounts")]

    operations = [
        migrations.RunSQL(TEXT_NUMBER, "DROP FUNCTION memgov.text_number(text)"),
        migrations.RunSQL(TERM_VECTOR, "DROP FUNCTION memgov.term_vector(text[])"),
        _plain("ALTER TABLE memory_index RENAME TO memory_index_before"),
        *(_plain(f"ALTER TABLE {name} RENAME TO before_{name}") for name in PARTITIONS),
        _plain("DROP INDEX memory_index_scope"),
        _plain("DROP INDEX memory_index_terms"),
        _plain("DROP INDEX memory_index_vector"),
        _plain(
            "ALTER TABLE memory_index_before RENAME CONSTRAINT memory_index_pkey TO memory_index_before_pkey"
        ),
        _plain(INDEX_TABLE),
        *(
            _plain(
                f"CREATE TABLE {name} PARTITION OF memory_index FOR VALUES WITH (MODULUS 16, REMAINDER {number})"
            )
            for number, name in enumerate(PARTITIONS)
        ),
        *_rows_of_all_tenants(_plain(COPY)),
        _plain("DROP TABLE memory_index_before"),
        _plain("CREATE INDEX memory_index_scope ON memory_index (tenant_id, scope)"),
        _plain("CREATE INDEX memory_index_terms ON memory_index USING gin (terms)"),
        _plain("CREATE INDEX memory_index_vector ON memory_index USING hnsw (embedding halfvec_cosine_ops)"),
        *(operation for name in ["memory_index", *PARTITIONS] for operation in secure(name)),
        _plain("GRANT SELECT ON memory_index TO memgov_lookup"),
        _plain("CREATE POLICY lookup_reads ON memory_index FOR SELECT TO memgov_lookup USING (true)"),
        migrations.RunSQL(MEMORIES_WITH, "DROP FUNCTION memgov.memories_with(text[], text[])"),
        _plain("ALTER FUNCTION memgov.memories_with(text[], text[]) OWNER TO memgov_lookup"),
        _plain("REVOKE ALL ON FUNCTION memgov.memories_with(text[], text[]) FROM PUBLIC"),
        _plain("GRANT EXECUTE ON FUNCTION memgov.memories_with(text[], text[]) TO memgov_app"),
    ]

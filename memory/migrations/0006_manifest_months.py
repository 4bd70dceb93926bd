"""Manifests and their entries, split by month.

The month of a row is that of its manifest's time-ordered id.  Months are made ahead and dropped by two functions of
the owner: the app's role may neither create nor drop tables.
"""

import django.db.models.deletion
from django.db import migrations, models

from tenants.rls import secure

# The least UUIDv7 of an instant.
FLOOR = """
CREATE FUNCTION memgov.id_floor(instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM instant) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$
"""

# Attached, not created in place: that would lock out the readers of the whole table.  A month that the default
# partition holds rows of cannot be made; its rows are right where they are.
ADD = """
CREATE FUNCTION memgov.manifest_month_add(month date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '3s' AS $$
DECLARE
    starts timestamptz := date_trunc('month', month::timestamp) AT TIME ZONE 'UTC';
    ends timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
    suffix text := to_char(month, '"_m"YYYYMM');
    parent text;
BEGIN
    -- Two workers at once: the second waits, and finds the first one's work.  Reads and writes go on.
    LOCK TABLE public.memory_manifest IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('public.memory_manifestentry' || suffix) IS NOT NULL THEN
        RETURN false;
    END IF;
    FOREACH parent IN ARRAY ARRAY['memory_manifest', 'memory_manifestentry'] LOOP
        EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
                       ' INCLUDING INDEXES)', parent || suffix, parent);
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', parent || suffix);
        EXECUTE format('CREATE POLICY tenant_isolation ON public.%I USING (tenant_id ='
                       ' nullif(current_setting(''memgov.tenant_id'', true), '''')::uuid) WITH CHECK (tenant_id ='
                       ' nullif(current_setting(''memgov.tenant_id'', true), '''')::uuid)', parent || suffix);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON public.%I TO memgov_app', parent || suffix);
        EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
                       parent, parent || suffix, memgov.id_floor(starts), memgov.id_floor(ends));
    END LOOP;
    -- Month to month, so that a month can go without a look at the others.
    EXECUTE format('ALTER TABLE public.%I ADD CONSTRAINT manifest_same_tenant FOREIGN KEY (tenant_id, manifest_id)'
                   ' REFERENCES public.%I (tenant_id, id) ON DELETE CASCADE',
                   'memory_manifestentry' || suffix, 'memory_manifest' || suffix);
    RETURN true;
END
$$
"""

# The shortest retention is a day; nothing younger is ever dropped, whoever calls.
DROP = """
CREATE FUNCTION memgov.manifest_month_drop(month date) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '3s' AS $$
DECLARE
    ends timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
    suffix text := to_char(month, '"_m"YYYYMM');
BEGIN
    IF ends > now() - interval '1 day' THEN
        RAISE EXCEPTION 'the month % is not over yet', month;
    END IF;
    LOCK TABLE public.memory_manifest IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('public.memory_manifest' || suffix) IS NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE public.%I', 'memory_manifestentry' || suffix);
    EXECUTE format('DROP TABLE public.%I', 'memory_manifest' || suffix);
    RETURN true;
END
$$
"""

MANIFEST = """
CREATE TABLE memory_manifest (
    tenant_id uuid NOT NULL REFERENCES tenants_tenant (id) DEFERRABLE INITIALLY DEFERRED,
    id uuid NOT NULL,
    kind varchar(20) NOT NULL,
    at timestamptz NOT NULL,
    agent_id uuid,
    agent_name varchar(200) NOT NULL,
    agent_role varchar(50) NOT NULL,
    session varchar(300) NOT NULL,
    task varchar(300) NOT NULL,
    query_hash varchar(64) NOT NULL,
    query_text text NOT NULL,
    request jsonb NOT NULL,
    excluded jsonb NOT NULL,
    excluded_ids jsonb NOT NULL,
    working jsonb NOT NULL,
    policy_version integer NOT NULL,
    block_format varchar(20) NOT NULL,
    block_digest varchar(64) NOT NULL,
    entry_count integer NOT NULL,
    tokens integer NOT NULL,
    usage_reported_at timestamptz,
    CONSTRAINT manifest_key PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id)
"""

ENTRY = """
CREATE TABLE memory_manifestentry (
    tenant_id uuid NOT NULL,
    manifest_id uuid NOT NULL,
    rank integer NOT NULL,
    memory_id uuid NOT NULL,
    version integer NOT NULL,
    scope varchar(200) NOT NULL,
    band varchar(20) NOT NULL,
    channel varchar(20) NOT NULL,
    score double precision NOT NULL,
    scores jsonb NOT NULL,
    source text NOT NULL,
    trust double precision NOT NULL,
    recorded_at timestamptz,
    learned_at timestamptz,
    rivals_from integer,
    verdict varchar(10) NOT NULL,
    used_at timestamptz,
    reported_at timestamptz,
    CONSTRAINT manifest_entry_key PRIMARY KEY (tenant_id, manifest_id, rank)
) PARTITION BY RANGE (manifest_id)
"""

# From a year back for what is there already, to a quarter ahead.
MONTHS = """
DO $$
BEGIN
    PERFORM memgov.manifest_month_add((now() + make_interval(months => n))::date) FROM generate_series(-12, 3) AS n;
END
$$
"""

# Tenant by tenant: row-level security is forced for the owner too, who would copy nothing and say nothing.
COPY = """
DO $$
DECLARE
    whose uuid;
    there bigint;
    copied bigint;
BEGIN
    FOR whose IN SELECT id FROM tenants_tenant LOOP
        PERFORM memgov.set_tenant(whose);
        INSERT INTO memory_manifest
        SELECT tenant_id, id, kind, at, agent_id, agent_name, agent_role, session, task, query_hash, query_text,
               request - 'learned', excluded, '{}', working, policy_version, 'xml', block_digest, entry_count, tokens,
               usage_reported_at
          FROM memory_manifest_whole WHERE tenant_id = whose;
        INSERT INTO memory_manifestentry
        SELECT e.tenant_id, e.manifest_id, e.rank, e.memory_id, e.version, e.scope, e.band, e.channel, e.score, '{}',
               coalesce(m.agent_name || CASE WHEN m.tool <> '' THEN '/' || m.tool ELSE '' END,
                        w.value->>'agent' || CASE WHEN w.value->>'tool' <> '' THEN '/' || (w.value->>'tool') ELSE '' END,
                        ''),
               coalesce((v.state->>'trust')::float8, (w.value->>'trust')::float8, 0),
               coalesce(m.recorded_at, (w.value->>'recorded_at')::timestamptz),
               (r.request->'learned'->>(e.rank - 1))::timestamptz, NULL,
               CASE WHEN e.used_at IS NULL THEN '' ELSE 'used' END, e.used_at, e.used_at
          FROM memory_manifestentry_whole e
          JOIN memory_manifest_whole r ON r.tenant_id = whose AND r.id = e.manifest_id
          LEFT JOIN memory_memory m ON m.tenant_id = whose AND m.id = e.memory_id
          LEFT JOIN memory_revision v ON v.tenant_id = whose AND v.memory_id = e.memory_id AND v.version = e.version
          LEFT JOIN LATERAL (SELECT value FROM jsonb_array_elements(r.working)
                              WHERE value->>'id' = 'wrk_' || replace(e.memory_id::text, '-', '') LIMIT 1) w ON true
         WHERE e.tenant_id = whose;
        SELECT count(*) INTO there FROM memory_manifestentry_whole WHERE tenant_id = whose;
        SELECT count(*) INTO copied FROM memory_manifestentry WHERE tenant_id = whose;
        IF there <> copied THEN
            RAISE EXCEPTION 'copied % of % manifest entries of tenant %', copied, there, whose;
        END IF;
    END LOOP;
    PERFORM memgov.set_tenant(NULL);
END
$$
"""

NO_WAY_BACK = """
DO $$ BEGIN RAISE EXCEPTION 'manifests cannot go back into one table: restore a backup'; END $$
"""

KEY = {"blank": True, "editable": False, "primary_key": True, "serialize": False}


def sql(forwards: str) -> migrations.RunSQL:
    return migrations.RunSQL(forwards, migrations.RunSQL.noop)


class Migration(migrations.Migration):
    dependencies = [("memory", "0005_jobs_and_alerts"), ("tenants", "0002_boundary")]

    operations = [
        sql(FLOOR),
        sql(ADD),
        sql(DROP),
        sql("REVOKE ALL ON FUNCTION memgov.manifest_month_add(date) FROM PUBLIC, memgov_lookup"),
        sql("REVOKE ALL ON FUNCTION memgov.manifest_month_drop(date) FROM PUBLIC, memgov_lookup"),
        sql("GRANT EXECUTE ON FUNCTION memgov.manifest_month_add(date) TO memgov_app"),
        sql("GRANT EXECUTE ON FUNCTION memgov.manifest_month_drop(date) TO memgov_app"),
        sql("ALTER TABLE memory_manifestentry RENAME TO memory_manifestentry_whole"),
        sql("ALTER TABLE memory_manifest RENAME TO memory_manifest_whole"),
        sql(MANIFEST),
        sql(ENTRY),
        sql(
            "CREATE INDEX manifests_of_session ON memory_manifest (tenant_id, session, id) WHERE NOT (session = '')"
        ),
        sql("CREATE INDEX manifests_of_agent ON memory_manifest (tenant_id, agent_id, id)"),
        sql("CREATE INDEX entries_of_memory ON memory_manifestentry (tenant_id, memory_id, manifest_id)"),
        sql("CREATE TABLE memory_manifest_other PARTITION OF memory_manifest DEFAULT"),
        sql("CREATE TABLE memory_manifestentry_other PARTITION OF memory_manifestentry DEFAULT"),
        sql(
            "ALTER TABLE memory_manifestentry_other ADD CONSTRAINT manifest_same_tenant FOREIGN KEY"
            " (tenant_id, manifest_id) REFERENCES memory_manifest_other (tenant_id, id) ON DELETE CASCADE"
        ),
        *(
            operation
            for table in ("memory_manifest", "memory_manifestentry")
            for name in (table, f"{table}_other")
            for operation in secure(name)
        ),
        sql("GRANT SELECT, INSERT, UPDATE, DELETE ON memory_manifest, memory_manifestentry TO memgov_app"),
        sql(MONTHS),
        sql(COPY),
        sql("DROP TABLE memory_manifestentry_whole"),
        sql("DROP TABLE memory_manifest_whole"),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex("manifest", "manifest_by_time"),
                migrations.RemoveIndex("manifest", "manifest_by_session"),
                migrations.AddField("manifest", "excluded_ids", models.JSONField(default=dict)),
                migrations.AddField(
                    "manifest", "block_format", models.CharField(default="xml", max_length=20)
                ),
                migrations.AddIndex(
                    "manifest",
                    models.Index(
                        condition=models.Q(("session", ""), _negated=True),
                        fields=["tenant", "session", "id"],
                        name="manifests_of_session",
                    ),
                ),
                migrations.AddIndex(
                    "manifest", models.Index(fields=["tenant", "agent_id", "id"], name="manifests_of_agent")
                ),
                migrations.DeleteModel("ManifestEntry"),
                migrations.CreateModel(
                    name="ManifestEntry",
                    fields=[
                        ("pk", models.CompositePrimaryKey("tenant_id", "manifest_id", "rank", **KEY)),
                        ("manifest_id", models.UUIDField()),
                        ("rank", models.IntegerField()),
                        ("memory_id", models.UUIDField()),
                        ("version", models.IntegerField()),
                        ("scope", models.CharField(max_length=200)),
                        ("band", models.CharField(max_length=20)),
                        ("channel", models.CharField(max_length=20)),
                        ("score", models.FloatField()),
                        ("scores", models.JSONField(default=dict)),
                        ("source", models.TextField(blank=True)),
                        ("trust", models.FloatField(default=0.0)),
                        ("recorded_at", models.DateTimeField(null=True)),
                        ("learned_at", models.DateTimeField(null=True)),
                        ("rivals_from", models.IntegerField(null=True)),
                        ("verdict", models.CharField(blank=True, max_length=10)),
                        ("used_at", models.DateTimeField(null=True)),
                        ("reported_at", models.DateTimeField(null=True)),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="tenants.tenant",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["tenant", "memory_id", "manifest_id"], name="entries_of_memory"
                            )
                        ]
                    },
                ),
            ]
        ),
        migrations.RunSQL("SELECT 1", NO_WAY_BACK),
    ]

"""The database's own locks on the tables of who and whose, and the functions that go with them."""

from django.db import migrations

from tenants.rls import reference, secure

SET_TENANT = """
CREATE FUNCTION memgov.set_tenant(tenant uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- SET LOCAL, not set_config: it lasts for the transaction only, and it reaches the shards of a
    -- distributed database.
    IF tenant IS NULL THEN
        SET LOCAL memgov.tenant_id = '';
    ELSE
        EXECUTE format('SET LOCAL memgov.tenant_id = %L', tenant);
    END IF;
END
$$
"""

# The one question that crosses tenants: where does this person belong?  It runs as a role that cannot sign
# in and may read nothing else.
MEMBERSHIPS_OF = """
CREATE FUNCTION memgov.memberships_of(person uuid)
RETURNS TABLE (tenant_id uuid, role varchar) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public AS $$
    SELECT m.tenant_id, m.role FROM public.tenants_membership m WHERE m.user_id = person
$$
"""

TABLES = ["tenants_membership", "tenants_agent", "tenants_agentkey", "tenants_grant"]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [
        migrations.RunSQL(SET_TENANT, "DROP FUNCTION memgov.set_tenant(uuid)"),
        *(operation for table in TABLES for operation in secure(table)),
        reference("tenants_agentkey", "agent_id", "tenants_agent"),
        reference("tenants_grant", "agent_id", "tenants_agent"),
        migrations.RunSQL("GRANT SELECT ON tenants_membership TO memgov_lookup", migrations.RunSQL.noop),
        migrations.RunSQL(
            "CREATE POLICY lookup_reads ON tenants_membership FOR SELECT TO memgov_lookup USING (true)",
            "DROP POLICY lookup_reads ON tenants_membership",
        ),
        migrations.RunSQL(
            "CREATE INDEX membership_by_user ON tenants_membership (user_id)", "DROP INDEX membership_by_user"
        ),
        migrations.RunSQL(MEMBERSHIPS_OF, "DROP FUNCTION memgov.memberships_of(uuid)"),
        migrations.RunSQL(
            "ALTER FUNCTION memgov.memberships_of(uuid) OWNER TO memgov_lookup", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "REVOKE ALL ON FUNCTION memgov.memberships_of(uuid) FROM PUBLIC", migrations.RunSQL.noop
        ),
        migrations.RunSQL(
            "GRANT EXECUTE ON FUNCTION memgov.memberships_of(uuid) TO memgov_app", migrations.RunSQL.noop
        ),
    ]

"""What a session was shown, by a plan that is kept.

Every write of a session asks this.  With a partition for each month, planning the question took ten times as long as
answering it (2 ms against 0.2 ms), so the plan is made once per connection.  It runs as whoever calls it, under the
caller's row-level security.
"""

from django.db import migrations

SHOWN_IN = """
CREATE FUNCTION memgov.shown_in(who uuid, run text, among uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT e.memory_id
      FROM public.memory_manifestentry e
      JOIN public.memory_manifest m ON m.tenant_id = e.tenant_id AND m.id = e.manifest_id
     WHERE e.tenant_id = who AND m.tenant_id = who AND m.session = run AND m.session <> ''
       AND e.memory_id = ANY(among);
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0008_search_columns")]

    operations = [migrations.RunSQL(SHOWN_IN, "DROP FUNCTION memgov.shown_in(uuid, text, uuid[])")]

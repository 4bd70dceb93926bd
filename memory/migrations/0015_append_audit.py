"""Numbering and chaining audit events in the database.

Whoever appends holds the end of the tenant's chain, and every other writer of the tenant waits for it.  Done here, it
is held for no round trip, and the events travel in one message with the COMMIT.  What is hashed is what
`memory.domain.audit_chain` says; that module verifies the chain without this function.
"""

from django.db import migrations

APPEND = """
CREATE FUNCTION memgov.append_audit(
    who uuid, instant timestamptz, by_kind text, by_id text, by_name text, request text, events json
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
    link bytea;
    event record;
BEGIN
    INSERT INTO public.memory_audithead AS h (tenant_id, id, seq, hash)
    VALUES (who, gen_random_uuid(), 0, decode(repeat('00', 32), 'hex'))
    ON CONFLICT (tenant_id) DO UPDATE SET seq = h.seq RETURNING seq, hash INTO number, link;
    FOR event IN
        SELECT * FROM json_to_recordset(events) AS e(
            id uuid, action text, target_kind text, target_id text, scope text, reason text, before jsonb, after jsonb,
            policy_version int, head text, tail text)
    LOOP
        number := number + 1;
        link := sha256(convert_to('memgov audit event 1', 'UTF8') || decode('00', 'hex') || link
                       || convert_to(event.head || number || event.tail, 'UTF8'));
        INSERT INTO public.memory_auditevent (tenant_id, id, seq, at, actor_kind, actor_id, actor_name, action,
            target_kind, target_id, scope, reason, before, after, policy_version, request_id, hash)
        VALUES (who, event.id, number, instant, by_kind, by_id, by_name, event.action, event.target_kind,
            event.target_id, event.scope, event.reason, event.before, event.after, event.policy_version, request, link);
    END LOOP;
    UPDATE public.memory_audithead SET seq = number, hash = link WHERE tenant_id = who;
    RETURN number;
END
$$
"""
DROP = "DROP FUNCTION memgov.append_audit(uuid, timestamptz, text, text, text, text, json)"


class Migration(migrations.Migration):
    dependencies = [("memory", "0014_alert_rules_and_channels")]

    operations = [migrations.RunSQL(APPEND, DROP)]

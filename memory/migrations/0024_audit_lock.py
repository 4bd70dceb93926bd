"""The end of an audit chain is locked as it is, and no longer by writing it unchanged before it is written anew.

Of a chain that has begun, which is every tenant's after its first event.  The hash and the order are the same.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("memory.migrations.0019_append_many").APPEND
_BY_WRITING = """
    INSERT INTO public.memory_audithead AS h (tenant_id, id, seq, hash)
    VALUES (who, gen_random_uuid(), 0, decode(repeat('00', 32), 'hex'))
    ON CONFLICT (tenant_id) DO UPDATE SET seq = h.seq RETURNING seq, seq, hash INTO begun, number, link;
"""
_BY_LOCKING = f"""
    SELECT h.seq, h.seq, h.hash INTO begun, number, link
      FROM public.memory_audithead h WHERE h.tenant_id = who FOR UPDATE;
    IF NOT FOUND THEN{_BY_WRITING}    END IF;
"""
APPEND = BEFORE.replace(_BY_WRITING, _BY_LOCKING)


class Migration(migrations.Migration):
    dependencies = [("memory", "0023_known_rows")]

    operations = [migrations.RunSQL(APPEND, BEFORE)]

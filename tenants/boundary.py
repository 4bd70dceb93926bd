"""What the tenant boundary demands of the database, as questions with readable answers.

Used by the system checks that refuse a start, by `memgov doctor` and by the tests.
"""

from __future__ import annotations

from django.db import connections

# Tables with a tenant_id that are not secured, partitions included.
_UNSECURED = """
SELECT c.oid::regclass::text
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE a.attname = 'tenant_id' AND NOT a.attisdropped AND c.relkind IN ('r', 'p')
   AND c.relnamespace = 'public'::regnamespace
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity
            AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant_isolation'))
 ORDER BY 1
"""

# Primary, unique, exclusion and foreign keys, and unique indexes, whose first column is not the tenant.
_KEYS_WITHOUT_TENANT = """
SELECT i.indrelid::regclass::text || '.' || ic.relname
  FROM pg_index i
  JOIN pg_class ic ON ic.oid = i.indexrelid
  JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = 'public'::regnamespace
  JOIN pg_attribute t ON t.attrelid = c.oid AND t.attname = 'tenant_id'
 WHERE (i.indisunique OR i.indisexclusion) AND i.indkey[0] <> t.attnum
UNION ALL
SELECT k.conrelid::regclass::text || '.' || k.conname
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid AND c.relnamespace = 'public'::regnamespace
  JOIN pg_attribute t ON t.attrelid = c.oid AND t.attname = 'tenant_id'
 WHERE k.contype = 'f' AND (k.conkey[1] <> t.attnum OR k.confdeltype IN ('n', 'd')
    OR k.confrelid = 'tenants_user'::regclass)
 ORDER BY 1
"""

_ROLE = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid AND c.relnamespace = 'public'::regnamespace)
  FROM pg_roles r WHERE r.rolname = current_user
"""


def unsecured_tables(alias: str = "default") -> list[str]:
    """Tenant tables without forced row-level security."""
    return _column(alias, _UNSECURED)


def keys_without_tenant(alias: str = "default") -> list[str]:
    """Keys of tenant tables that could not be distributed by tenant."""
    return _column(alias, _KEYS_WITHOUT_TENANT)


def role_problems(alias: str = "default") -> list[str]:
    """What about the connected role would let it pass row-level security; empty if nothing."""
    with connections[alias].cursor() as cursor:
        cursor.execute(_ROLE)
        name, superuser, bypass, owns = cursor.fetchone()
    found = [(superuser, "is a superuser"), (bypass, "has BYPASSRLS"), (owns, "owns tables")]
    return [f"role {name} {problem}" for is_so, problem in found if is_so]


def _column(alias: str, sql: str) -> list[str]:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql)
        return [row[0] for row in cursor.fetchall()]

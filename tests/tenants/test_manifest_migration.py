"""The move of manifests into months: everything that was there is there afterwards, tenant by tenant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections

from memgov import clock
from memgov.ids import floor_id, new_id
from memory.domain.months import following, month_of, start_of

pytestmark = pytest.mark.usefixtures("database")

NAME = "memgov_test_migration"
BEFORE = "0005_jobs_and_alerts"
HEAD = (
    "INSERT INTO memory_manifest (tenant_id, id, kind, at, agent_name, agent_role, session, task, query_hash,"
    " query_text, request, excluded, working, policy_version, block_digest, entry_count, tokens)"
    " VALUES (%s, %s, %s, now(), 'coder-1', 'coder', 's1', '', '', 'q', %s, %s, '[]', 1, 'digest', 1, 7)"
)
ENTRY = (
    "INSERT INTO memory_manifestentry (tenant_id, id, manifest_id, rank, memory_id, version, scope, band, channel,"
    " score, used_at) VALUES (%s, %s, %s, 1, %s, 1, 'shared', 'fresh', 'retrieved', 0.5, now())"
)


@pytest.fixture
def old(superuser_url: str) -> Iterator[str]:
    """A database as it was before, and the superuser's address of it."""
    head, _, _ = superuser_url.rpartition("/")
    owner = connections["owner"]
    mine = owner.settings_dict["NAME"]
    with psycopg.connect(superuser_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {NAME} (FORCE)")
        admin.execute(f"CREATE DATABASE {NAME} TEMPLATE memgov OWNER memgov_owner")
    owner.close()
    owner.settings_dict["NAME"] = NAME
    try:
        call_command("migrate", "memory", BEFORE, database="owner", verbosity=0)
        yield f"{head}/{NAME}"
    finally:
        owner.close()
        owner.settings_dict["NAME"] = mine
        with psycopg.connect(superuser_url, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {NAME} (FORCE)")


def test_migration__rows_of_two_tenants__are_all_there_in_their_months(old: str) -> None:
    tenants, memories, learned = [uuid4(), uuid4()], {}, "2026-01-05T10:00:00+00:00"
    month = following(month_of(clock.now()), -2)
    when = {tenants[0]: start_of(month), tenants[1]: start_of(following(month_of(clock.now()), -40))}
    with psycopg.connect(old, autocommit=True) as writer:
        for tenant in tenants:
            writer.execute(
                "INSERT INTO tenants_tenant (id, slug, name, handle, status, is_demo, created_at)"
                " VALUES (%s, %s, 'x', %s, 'active', false, now())",
                [tenant, f"t-{tenant.hex[:8]}", tenant.hex[:8]],
            )
            memories[tenant] = _memory(writer, tenant)
            for kind, request in (("retrieve", {}), ("digest", {"scope": "shared", "learned": [learned]})):
                manifest = new_id(when[tenant])
                writer.execute(HEAD, [tenant, manifest, kind, json.dumps(request), '{"limit": 2}'])
                writer.execute(ENTRY, [tenant, new_id(), manifest, memories[tenant]])
    call_command("migrate", "memory", database="owner", verbosity=0)
    with psycopg.connect(old) as reader:
        found = reader.execute(
            "SELECT m.tenant_id, m.kind, m.tableoid::regclass::text, e.tableoid::regclass::text, e.memory_id, e.source,"
            " e.trust, e.learned_at IS NOT NULL, e.verdict, m.request ? 'learned', m.excluded->>'limit'"
            "  FROM memory_manifest m JOIN memory_manifestentry e ON e.tenant_id = m.tenant_id AND e.manifest_id = m.id"
        ).fetchall()
    expected = []
    for tenant, part in zip(tenants, (f"m{month:%Y%m}", "other"), strict=True):
        tables = (f"memory_manifest_{part}", f"memory_manifestentry_{part}")
        same = (memories[tenant], "writer/scan", 0.9)
        expected += [
            (tenant, kind, *tables, *same, kind == "digest", "used", False, "2")
            for kind in ("retrieve", "digest")
        ]
    assert sorted(found) == sorted(expected)


def _memory(writer: psycopg.Connection, tenant: object) -> object:
    """A memory with its revision, as a superuser puts it: what must not be empty gets its emptiest value."""
    memory = uuid4()
    _row(writer, "memory_memory", {"tenant_id": tenant, "id": memory, "agent_name": "writer", "tool": "scan",
                                   "scope": "shared", "status": "live"})  # fmt: skip
    _row(writer, "memory_revision", {"tenant_id": tenant, "id": uuid4(), "memory_id": memory, "version": 1,
                                     "state": '{"content": "x", "trust": 0.9}'})  # fmt: skip
    return memory


_EMPTIEST = {
    "timestamp with time zone": "now()", "boolean": "false", "jsonb": "'{}'", "ARRAY": "'{}'", "bytea": "''",
    "double precision": "0", "integer": "1", "bigint": "1", "uuid": "gen_random_uuid()",
}  # fmt: skip


def _row(writer: psycopg.Connection, table: str, given: dict[str, object]) -> None:
    needed = writer.execute(
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_name = %s AND is_nullable = 'NO' AND column_default IS NULL",
        [table],
    ).fetchall()
    rest = {name: _EMPTIEST.get(kind, "''") for name, kind in needed if name not in given}
    columns = ", ".join([*given, *rest])
    values = ", ".join(["%s"] * len(given) + list(rest.values()))
    writer.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})", list(given.values()))


def test_id_floor__in_the_database_and_in_python__agree(superuser_url: str) -> None:
    with psycopg.connect(superuser_url) as reader:
        for instant in (
            clock.now(),
            start_of(month_of(clock.now())),
            start_of(following(month_of(clock.now()), -300)),
        ):
            assert reader.execute("SELECT memgov.id_floor(%s)", [instant]).fetchone() == (floor_id(instant),)
            assert new_id(instant) >= floor_id(instant)

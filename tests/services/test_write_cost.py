"""What a write costs: statements by kind, the same in a small and in a large tenant, each by an index."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from memory.models import Memory, ScopeRecord
from memory.services.memory_write import memory_write
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant
from tests.statements import statements
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")

LARGE = 20_000
# A sequential scan of these is right: they hold a row or two of the tenant.
_SMALL = {
    "memory_policyversion", "memory_vocabularyhead", "memory_mounthead", "memory_audithead", "tenants_tenant",
}  # fmt: skip


@pytest.fixture(scope="module")
def large(database: None) -> Stage:
    """A tenant with many rows in many scopes, and the scopes of many sessions."""
    plot = Plot()
    for number in range(20):
        plot.plant(LARGE // 20, scope=f"project:p{number}")
    plot.plant(400, scope="project:alpha")
    with plot.stage.context():
        ScopeRecord.objects.bulk_create(
            ScopeRecord(tenant_id=plot.stage.tenant.id, name=f"session:s{number}", kind="session")
            for number in range(LARGE // 4)
        )
    with connections["owner"].cursor() as cursor:
        # The planner has to know that there are many: autovacuum may not have looked yet.
        for table in ("memory_scoperecord", "memory_memory", "memory_index"):
            cursor.execute(f"ANALYZE {table}")
    return plot.stage


def fact(stage: Stage, number: int) -> Outcome:
    content = (
        f"The {('ledger', 'mailer', 'gateway')[number % 3]} of hall {number} opens at {number % 12} sharp."
    )
    return memory_write(
        stage.coder.principal, WriteRequest(content=content, scope="project:alpha", origin="user_explicit")
    )


def plan(stage: Stage, value: str) -> Outcome:
    return memory_write(
        stage.coder.principal,
        WriteRequest(
            subject="user:42", predicate="plan", value=value, scope="project:alpha", origin="user_explicit"
        ),
    )


def cost(call: Any) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        call()
    return statements(captured)


def costs(stage: Stage) -> dict[str, int]:
    fact(stage, 1)
    plan(stage, "pro")
    junk = WriteRequest(content="ok", scope="project:alpha")
    return {
        "plain": len(cost(lambda: fact(stage, 101))),
        "duplicate": len(cost(lambda: fact(stage, 101))),
        "supersede": len(cost(lambda: plan(stage, "team"))),
        "refused": len(cost(lambda: memory_write(stage.coder.principal, junk))),
    }


def test_cost__small_and_large_tenant__the_same_and_within_bounds(large: Stage) -> None:
    small, big = costs(make_tenant()), costs(large)
    assert big == small
    assert small["plain"] <= 10, small  # authentication takes two more
    assert small["supersede"] <= small["plain"] + 3, small


def test_plans__of_a_write_in_a_large_tenant__use_indexes(large: Stage) -> None:
    with large.context():
        assert Memory.objects.count() >= LARGE
    bad = "SELECT id FROM memory_memory WHERE content LIKE '%hall%'"
    assert sequential(large, bad, indexes=False) == ["memory_memory"], "positive control: a scan is seen"
    told = cost(lambda: fact(large, 202)) + cost(lambda: plan(large, "solo"))
    scanned = []
    for sql in told:
        if not sql.lstrip().upper().startswith(("SELECT", "UPDATE", "WITH", "INSERT", "DELETE", "EXECUTE")):
            continue
        scanned += [(table, sql[:120]) for table in sequential(large, sql) if table not in _SMALL]
    assert scanned == []


def test_plans__of_what_a_write_is_compared_with__the_index_of_its_key_or_its_text(large: Stage) -> None:
    met = [
        sql for sql in cost(lambda: fact(large, 303)) + cost(lambda: plan(large, "lite")) if "known_of" in sql
    ]
    used = [{node.get("Index Name") for node in _nodes(planned(large, sql))} for sql in met]
    of_text, of_key = used
    assert "memory_live_key" in of_key and "memory_live_text" in of_text
    assert "memory_by_scope" not in of_key | of_text, "or a write into a full scope would read all of it"


def sequential(stage: Stage, sql: str, *, indexes: bool = True) -> list[str]:
    """Tables that the statement's plan would read whole.  Nothing is executed."""
    found = _nodes(planned(stage, sql, indexes=indexes))
    return [node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"]


def planned(stage: Stage, sql: str, *, indexes: bool = True) -> dict[str, Any]:
    """The statement's plan.  Nothing is executed."""
    with stage.context(), connection.cursor() as cursor:
        if not indexes:
            cursor.execute("SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute("EXPLAIN (FORMAT JSON) " + sql.replace("%", "%%"), [])
        plan = cursor.fetchone()[0]
    found: list[dict[str, Any]] = json.loads(plan) if isinstance(plan, str) else plan
    return dict(found[0]["Plan"])


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(one for inner in node.get("Plans", []) for one in _nodes(inner))]

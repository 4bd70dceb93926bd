"""No page reads all rows: with far more of everything than is counted or searched, every statement of every queue has
a way along an index that stops early.

The limits are set low and the planner is told to walk indexes, so that a few thousand rows show what a hundred thousand
would: `memgov bench pages` measures those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.selectors import pages_counts, pages_paging, pages_promotions
from tenants.context import tenant_context
from tests.factories import Stage, make_tenant
from tests.pages.staging import signed_in
from tests.sweeps.planting import Plot

ROWS = 1500
COUNTED, SEARCHED = 150, 120
# What one statement may read of one table: a count and a page's rows, never all.
MOST = 400
LARGE = (
    "memory_memory",
    "memory_promotionrequest",
    "memory_contradiction",
    "memory_revision",
    "memory_auditevent",
)
PAGES = (
    "", "promotions/", "promotions/?view=high", "promotions/?view=conflicts", "promotions/?view=snoozed",
    "promotions/?view=conflicts&sort=old", "promotions/?view=conflicts&sort=risk",
    "promotions/?view=all", "promotions/?view=decided", "promotions/?sort=old", "promotions/?view=all&sort=risk",
    "promotions/?view=all&sort=reach", "promotions/?q=zzqq", "promotions/?q=planted", "contradictions/",
    "contradictions/?view=merges", "contradictions/?view=settled", "contradictions/?q=zzqq", "quarantine/",
    "quarantine/?q=zzqq", "evictions/", "evictions/?rule=evicted", "evictions/?q=zzqq", "memories/", "memories/?q=zzqq",
    "memories/?q=planted", "memories/?pinned=1", "memories/?status=live", "audit/", "manifests/",
)  # fmt: skip
_REQUESTS = """
INSERT INTO memory_promotionrequest (tenant_id, id, memory_id, memory_version, from_scope, to_scope, reason, trigger,
       proposer_kind, proposer_id, proposer_name, risk, risk_reasons, approvals_needed, status, version, created_at,
       decided_at)
SELECT tenant_id, gen_random_uuid(), id, version, scope, %(to)s, '', 'request', 'agent', 'agt_x', 'planter',
       CASE WHEN mod(row_number() OVER (), 2) = 0 THEN 'high' ELSE 'low' END, '[]', 1, %(status)s, 1,
       now() - row_number() OVER () * interval '1 minute', CASE WHEN %(status)s <> 'pending' THEN now() END
  FROM memory_memory WHERE tenant_id = %(tenant)s AND status = 'live'"""
_CONTRADICTIONS = """
INSERT INTO memory_contradiction (tenant_id, id, kind, scope, subject, predicate, memory_a, memory_b, evidence, status,
       version, created_at, resolution, resolved_by, undo)
SELECT tenant_id, gen_random_uuid(), %(kind)s, scope, '', '', id, other, '{}', %(status)s, 1,
       now() - row_number() OVER () * interval '1 minute', '', '', '{}'
  FROM (SELECT *, lead(id, %(step)s) OVER (ORDER BY id) AS other FROM memory_memory
         WHERE tenant_id = %(tenant)s AND status = 'live') m WHERE other IS NOT NULL"""


@pytest.fixture(scope="module")
def crowd(database: None) -> Stage:
    """A tenant with many of everything in every state."""
    plot = Plot(stage=make_tenant())
    for status in ("live", "quarantined", "evicted", "archived"):
        plot.plant(ROWS, content=f"planted {status} ", status=status)
    with tenant_context(plot.tenant_id), connection.cursor() as cursor:
        cursor.execute("UPDATE memory_memory SET status_changed_at = now() - random() * interval '90 days'")
        for to, status in (("shared", "pending"), ("global", "rejected")):
            cursor.execute(_REQUESTS, {"tenant": plot.tenant_id, "to": to, "status": status})
        for step, (kind, status) in enumerate(
            (("contested", "open"), ("merge", "open"), ("contested", "resolved")), 1
        ):
            given = {"tenant": plot.tenant_id, "kind": kind, "status": status, "step": step}
            cursor.execute(_CONTRADICTIONS, given)
    with connections["owner"].cursor() as owner:
        owner.execute("VACUUM ANALYZE memory_memory, memory_promotionrequest, memory_contradiction")
    return plot.stage


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in (pages_paging, pages_counts, pages_promotions):
        for name, value in (("COUNTED", COUNTED), ("SEARCHED", SEARCHED)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    yield


def asked(browser: Client, path: str) -> list[str]:
    """The statements of a page that read, each alone."""
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(path).status_code == 200, path
    found = [
        re.sub(r"^BEGIN;\s*SET LOCAL [^;]+;\s*", "", one["sql"]).strip() for one in captured.captured_queries
    ]
    return [sql for sql in found if sql.upper().startswith("SELECT")]


def read_of(plan: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """How many rows each part of a plan looked at, by table."""
    table = plan.get("Relation Name", "")
    looked = (
        plan["Actual Rows"]
        + plan.get("Rows Removed by Filter", 0)
        + plan.get("Rows Removed by Index Recheck", 0)
    )
    if table in LARGE:
        yield table, looked * plan["Actual Loops"]
    for part in plan.get("Plans", ()):
        yield from read_of(part)


def most_read(stage: Stage, sql: str) -> list[tuple[str, float]]:
    """The parts of the statement that read more than they may, in the better of two ways: along an index that has the
    order, or by a small set that is sorted.  Which is better at which size is for the planner to know."""
    return min((_read(stage, sql, switches) for switches in (_WALK, _SORT)), key=len)


_WALK = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_sort")
_SORT = _WALK[:-1]


def _read(stage: Stage, sql: str, off: tuple[str, ...]) -> list[tuple[str, float]]:
    with tenant_context(stage.tenant.id), connection.cursor() as cursor:
        for name in off:
            cursor.execute(f"SET LOCAL {name} = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        found = cursor.fetchone()[0]
    plans = json.loads(found) if isinstance(found, str) else found
    return [part for part in read_of(plans[0]["Plan"]) if part[1] > MOST]


@pytest.mark.parametrize("path", PAGES)
def test_pages__with_many_rows__read_few(crowd: Stage, path: str) -> None:
    browser = signed_in(crowd.owner)
    too_much = [
        f"{part}: {' '.join(sql.split())[:400]}"
        for sql in asked(browser, f"/t/{crowd.tenant.slug}/{path}")
        for part in most_read(crowd, sql)
    ]
    assert "\n".join(too_much) == ""


def test_conflicts__joined_in_loops__are_found_once(crowd: Stage) -> None:
    """As the database joins them where tables grew faster than their statistics: it takes both sides for one row."""
    browser, path = signed_in(crowd.owner), f"/t/{crowd.tenant.slug}/promotions/?view=conflicts"
    counting = next(sql for sql in asked(browser, path) if "clashing" in sql and "count(*)" in sql)
    with tenant_context(crowd.tenant.id), connection.cursor() as cursor:
        for name in ("enable_hashjoin", "enable_mergejoin", "enable_material", "enable_memoize"):
            cursor.execute(f"SET LOCAL {name} = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {counting}")
        found = cursor.fetchone()[0]
    plans = json.loads(found) if isinstance(found, str) else found
    again = [
        part for part in _parts(plans[0]["Plan"]) if part.get("Subplan Name", "").startswith("CTE clashing")
    ]
    assert [part["Actual Loops"] for part in again] == [1]
    assert max(rows for _table, rows in read_of(again[0])) <= SEARCHED * 2


def _parts(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _parts(part)


def test_a_statement_that_reads_all__would_be_seen(crowd: Stage) -> None:
    """The control: a count of everything."""
    sql = "SELECT count(*) FROM memory_memory WHERE content LIKE '%zzqq%'"
    assert most_read(crowd, sql)


@pytest.mark.parametrize(
    "path", ["promotions/", "contradictions/", "quarantine/", "evictions/", "memories/", ""]
)
def test_counts__that_stop__say_so_and_are_equal_on_every_page(crowd: Stage, path: str) -> None:
    page = signed_in(crowd.owner).get(f"/t/{crowd.tenant.slug}/{path}").content.decode()
    for name in ("promotions", "contradictions", "quarantine", "evictions"):
        shown = re.search(rf'id="count-{name}"[^>]*>([^<]+)<', page)
        assert shown is not None and shown[1] == f"{COUNTED}+", (path, name)
    if path == "promotions/":
        assert f'All <span class="n">{COUNTED}+</span>' in page


def test_search__with_more_than_it_reads__goes_on_from_page_to_page(crowd: Stage) -> None:
    """What lies beyond the rows that one page looks at is found by going on."""
    browser, where = signed_in(crowd.owner), f"/t/{crowd.tenant.slug}/memories/?q=planted+live+{ROWS}"
    for _page in range(4 * ROWS // SEARCHED + 2):
        text = browser.get(where).content.decode()
        if f"planted live {ROWS}" in text.split('id="rows"')[1]:
            return
        further = re.search(r'rel="next" href="([^"]+)"', text)
        assert further is not None, "the search ended without it"
        where = further[1].replace("&amp;", "&")
    raise AssertionError("never found")


def test_pages__along_time_and_back__show_every_row_once(crowd: Stage) -> None:
    for path in ("evictions/?rule=evicted", "promotions/?view=all", "promotions/?view=all&sort=old"):
        browser, where, seen = signed_in(crowd.owner), f"/t/{crowd.tenant.slug}/{path}", list[str]()
        for _page in range(ROWS):
            text = browser.get(where).content.decode()
            kind = "mem" if "evictions" in path else "row-prm"
            found = re.findall(r'memories/(mem_\w+)/"' if kind == "mem" else r'id="row-(prm_\w+)"', text)
            seen += list(dict.fromkeys(found))
            further = re.search(
                r'rel="next" href="([^"]+)"|class="more-rows"><a class="btn sm" href="([^"]+)"', text
            )
            if further is None:
                break
            where = (further[1] or further[2]).replace("&amp;", "&")
        assert len(seen) == len(set(seen)) == ROWS, path

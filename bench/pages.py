"""The pages of the browser with very much in every queue, beside the same pages with nothing in them.

One tenant is empty; the other has as many live memories, requests, contradictions, held and evicted memories as the
size says.  Both are asked in turns through the web process as it is deployed, so that a ratio is of the same minute.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
from django.core.management import call_command

from bench.fill import settled
from bench.machine import Quiet
from bench.plant import Planting, plant
from bench.stage import HOST, Stage, new_tenant
from tenants.principals import Principal

ALIKE = 3
"""Of as many planted memories one is live, one held and one evicted."""
PAGES = {
    "start": "",
    "promotions": "promotions/",
    "promotions, high risk": "promotions/?view=high",
    "promotions, conflicts": "promotions/?view=conflicts",
    "promotions, put off": "promotions/?view=snoozed",
    "promotions, all by risk": "promotions/?view=all&sort=risk",
    "promotions, searched": "promotions/?q=plan+tier+gold",
    "promotions, no match": "promotions/?q=zzqq",
    "contradictions": "contradictions/",
    "quarantine": "quarantine/",
    "evictions": "evictions/",
    "memories": "memories/",
    "memories, searched": "memories/?q=plan+tier",
    "memories, no match": "memories/?q=zzqq",
    "memories, of a scope": "memories/?scope=user:3&status=live",
    "memories, stale": "memories/?band=stale",
    "memories, pinned": "memories/?pinned=1",
    "audit": "audit/",
    "manifests": "manifests/",
}
_COLUMNS = {
    "status": f"CASE mod(n, {ALIKE}) WHEN 0 THEN 'live' WHEN 1 THEN 'quarantined' ELSE 'evicted' END",
    "status_changed_at": "now() - n * interval '1 second'",
    "learned_at": "now() - mod(n, 200) * interval '1 day'",
    "findings": f'CASE WHEN mod(n, {ALIKE}) = 1 THEN \'[{{"kind": "instruction", "rule": "override", "start": 0,'
    ' "end": 4, "score": 0.9}]\'::jsonb ELSE \'[]\'::jsonb END',
}
_ONLY_LIVE = """
DELETE FROM memory_index i USING memory_memory m
 WHERE i.tenant_id = %(tenant)s AND m.tenant_id = i.tenant_id AND m.id = i.memory_id AND m.status <> 'live'"""
_REQUESTS = """
INSERT INTO memory_promotionrequest (tenant_id, id, memory_id, memory_version, from_scope, to_scope, reason, trigger,
       proposer_kind, proposer_id, proposer_name, risk, risk_reasons, approvals_needed, status, version, created_at)
SELECT tenant_id, uuidv7(), id, version, scope, 'shared', 'others ask for it', 'request', 'agent', 'agt_bench', 'bench',
       CASE WHEN mod(row_number() OVER (), 10) = 0 THEN 'high' ELSE 'low' END, '[]'::jsonb, 1, 'pending', 1,
       now() - row_number() OVER () * interval '1 second'
  FROM memory_memory WHERE tenant_id = %(tenant)s AND status = 'live'"""
_CONTRADICTIONS = """
INSERT INTO memory_contradiction (tenant_id, id, kind, scope, subject, predicate, memory_a, memory_b, evidence,
       status, version, created_at, resolution, resolved_by, undo)
SELECT tenant_id, uuidv7(), 'contested', scope, subject, predicate, id, lead(id, 1, id) OVER (ORDER BY id), '{}',
       'open', 1, now() - row_number() OVER () * interval '1 second', '', '', '{}'
  FROM memory_memory WHERE tenant_id = %(tenant)s AND status = 'live'"""


@dataclass(frozen=True, slots=True)
class Place:
    """A tenant and the cookie of its owner."""

    slug: str
    session: str


def run(
    stage: Stage, size: int, rounds: int, quiet: Quiet, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """By page: first byte in ms with nothing and with `size` of everything, their ratio, and the statements."""
    call_command("collectstatic", interactive=False, verbosity=0)
    empty, full = _place(), _planted(stage, size, tell)
    port = stage.web_port
    found = []
    with httpx.Client(base_url=f"http://{HOST}:{port}", timeout=60) as client:
        for name, path in PAGES.items():
            tell(f"page {name}")
            quiet.wait()
            times: dict[str, list[float]] = {"empty": [], "full": []}
            for number in range(rounds + 1):
                for which, place in (("empty", empty), ("full", full)):
                    taken = _first_byte(client, place, path)
                    if number:  # the first warms caches of both
                        times[which].append(taken * 1000)
            middle = {which: statistics.median(values) for which, values in times.items()}
            quotients = [full / empty for full, empty in zip(times["full"], times["empty"], strict=True)]
            found.append(
                {
                    "page": name,
                    "ms": {which: round(value, 1) for which, value in middle.items()},
                    "full_by_empty": round(statistics.median(quotients), 2),
                    "statements": _statements(full, path),
                }
            )
    return found


def steps() -> int:
    """How often `tell` will be called."""
    return len(PAGES) + 1


def _first_byte(client: httpx.Client, place: Place, path: str) -> float:
    """Seconds until the answer begins."""
    began = time.perf_counter()
    with client.stream(
        "GET", f"/t/{place.slug}/{path}", headers={"Cookie": f"sessionid={place.session}"}
    ) as answer:
        taken = time.perf_counter() - began
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")
    return taken


def _statements(place: Place, path: str) -> int:
    """How many statements the page takes, asked in this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    browser = Client(HTTP_HOST=HOST)
    browser.cookies["sessionid"] = place.session
    with CaptureQueriesContext(connection) as captured:
        browser.get(f"/t/{place.slug}/{path}")
    framing = ("SELECT memgov.", "BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
    return sum(1 for one in captured if not one["sql"].startswith(framing))


def _place(principal: Principal | None = None) -> Place:
    """A tenant, new unless it is given, and its owner's session."""
    from django.test import Client

    from memory.services import tenancy
    from tenants.models import Tenant, User
    from tenants.principals import system

    tenant_id = principal.tenant_id if principal else new_tenant()[1].tenant_id
    tenant = Tenant.objects.get(id=tenant_id)
    user = User.objects.create_user(f"{tenant.slug}@example.test", None, name="Bench")
    tenancy.member_add(system(tenant_id, "bench"), user, "owner")
    browser = Client(HTTP_HOST=HOST)
    browser.force_login(user)
    return Place(tenant.slug, browser.cookies["sessionid"].value)


def _planted(stage: Stage, size: int, tell: Callable[[str], None]) -> Place:
    tell(f"planting {size:,} in every queue")
    _, principal, _ = new_tenant()
    superuser = stage.servers.superuser_url
    plant(principal, superuser, Planting(size * ALIKE, vectors=False, columns=_COLUMNS))
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for statement in (_ONLY_LIVE, _REQUESTS, _CONTRADICTIONS):
            connection.execute(statement.encode(), {"tenant": principal.tenant_id})
        connection.execute("VACUUM ANALYZE memory_promotionrequest, memory_contradiction")
    settled(superuser)
    return _place(principal)

"""What decay and compaction would take under two policies, told apart in one pass over the readable rows.

The rules are those of `memory.selectors.removal`, each once with the numbers of either policy.  Only reads; rows that
both policies treat alike do not leave the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from memory.domain.policy import Policy
from memory.selectors.removal import BELOW_FLOOR, UNEXPIRED, UNMOUNTED, UNPINNED, decay_parameters
from memory.selectors.scope_rules import KEY_OF, policies_by_key
from tenants.context import current_tenant_id

_SHARED: Final = ("now", "tenant")
_NO_CAP: Final = 2**62
_BATCH: Final = 2000


def _under(side: str, sql: str) -> str:
    """A condition with the numbers of one side: its own parameters, and its own row of rules."""
    named = re.sub(r"%\((\w+)\)s", lambda m: m[0] if m[1] in _SHARED else f"%({side}_{m[1]})s", sql)
    return named.replace("rule.place", f"{side}.place")


def _sides(sql: str) -> str:
    return "".join(_under(side, sql).replace("@", side) for side in ("was", "will"))


# A pin without an end makes a condition unknown instead of false, and unknown is counted nowhere.
_JUDGED: Final = _sides(
    f", coalesce({BELOW_FLOOR}, false) AS @_faded, (%(cap)s::bigint[])[rule.place] AS @_cap"
)
_RULES: Final = _sides(f" CROSS JOIN LATERAL (SELECT array_position(%(keys)s::text[], {KEY_OF}) AS place) @")
_PLACED: Final = _sides(
    ", count(*) FILTER (WHERE NOT @_faded) OVER peers - @_cap AS @_over"
    ", row_number() OVER (PARTITION BY j.scope, j.free AND NOT @_faded ORDER BY j.confidence, j.learned_at, j.id)"
    " AS @_rank"
)
_ENDS: Final = _sides(
    ", CASE WHEN @_faded THEN 'evicted' WHEN free AND @_rank <= @_over THEN 'archived' ELSE 'kept' END AS @_end"
)
_CHANGED: Final = f"""
WITH judged AS (
    SELECT m.id, m.scope, m.confidence, m.trust, m.learned_at, m.use_count, m.reproductions,
           m.pinned_at IS NOT NULL AS pinned,
           coalesce(m.status = 'live' AND {UNPINNED} AND {UNMOUNTED}, false) AS free{_JUDGED}
      FROM memory_memory m{_RULES}
     WHERE m.tenant_id = %(tenant)s AND m.status IN ('live', 'contested') AND {UNEXPIRED}
),
placed AS (
    SELECT j.*, count(*) OVER peers AS live, count(*) FILTER (WHERE will_faded) OVER peers AS fading{_PLACED}
      FROM judged j WINDOW peers AS (PARTITION BY j.scope)
),
told AS (SELECT p.*{_ENDS} FROM placed p)
SELECT t.id, t.scope, t.was_end, t.will_end, t.live, t.fading, t.pinned, t.use_count, t.reproductions,
       t.confidence * t.trust
  FROM told t WHERE t.was_end <> t.will_end ORDER BY t.id
"""


@dataclass(frozen=True, slots=True)
class Removal:
    """A row that the policies treat differently: `was` and `will` are evicted, archived or kept.

    `live` and `fading` are of its scope: readable rows, and those that the draft would evict.
    """

    id: UUID
    scope: str
    was: str
    will: str
    live: int
    fading: int
    pinned: bool
    uses: int
    reproductions: int
    strength: float


def removals_changed(present: Policy, draft: Policy, now: datetime) -> Iterator[list[Removal]]:
    """The rows that differ, in batches, however many they are."""
    parameters: dict[str, Any] = {"now": now, "tenant": current_tenant_id()}
    for side, policy in (("was", present), ("will", draft)):
        numbers = decay_parameters(policy, now)
        caps = [one.reconciliation.cap or _NO_CAP for one in policies_by_key(policy).values()]
        parameters |= {f"{side}_{name}": value for name, value in numbers.items() if name != "now"}
        parameters[f"{side}_cap"] = caps
    with connection.chunked_cursor() as cursor:
        cursor.execute(_CHANGED, parameters)
        while rows := cursor.fetchmany(_BATCH):
            yield [Removal(*row) for row in rows]

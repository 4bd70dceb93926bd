"""The miswrite rate: what reviewers judged of the entries that were drawn for them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from memory.domain.health import share, wilson
from memory.selectors.health_rows import ByScope, query

JUDGED_WITHIN: Final = timedelta(days=90)

_JUDGED = """
SELECT coalesce(scope, ''), count(*) FILTER (WHERE verdict = 'wrong'), count(*)
  FROM memory_sampleitem
 WHERE tenant_id = %(tenant)s AND verdict IN ('right', 'wrong') AND judged_at > %(since)s AND judged_at <= %(now)s
 GROUP BY GROUPING SETS ((scope), ())
"""


def miswrites(now: datetime) -> ByScope:
    """Wrong ÷ judged with its 95% interval, by scope.  Entries about which reviewers were unsure count for nothing."""
    found: ByScope = {}
    for scope, wrong, judged in query(_JUDGED, now, since=now - JUDGED_WITHIN):
        low, high = wilson(wrong, judged) or (None, None)
        found[scope] = {
            "miswrite_rate": share(wrong, judged),
            "miswrite_low": low,
            "miswrite_high": high,
            "miswrite_judged": judged,
        }
    return found

"""What a process knows of a key's calls in the present minute, so that it need not ask the counter at each.

A key that calls often is counted ahead: the counter is told of some calls before they come, and the process then
allows that many by itself.  Ahead is never beyond a limit, so that all processes together allow no more than it; near
the limit nothing is counted ahead, and a key that calls seldom is counted call by call.  What was counted ahead and
not used by the end of the minute may cost a caller a fiftieth of its limit, never more for each process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from uuid import UUID

from memory.domain.policy_write_rules import RateLimits

OFTEN_SECONDS: Final = 1.0
"""Who used up within this time what was counted gets more counted ahead; what is known is this old at most."""
_SHARE = 50
_MOST_KEPT = 4096

Limits = Mapping[str, Any]
"""`RateLimits` as JSON."""
_QUOTA = {"write": "writes_per_minute_key", "read": "reads_per_minute_key"}
_OF_TENANT = "requests_per_minute_tenant"
assert {*_QUOTA.values(), _OF_TENANT} <= set(RateLimits.model_fields)


@dataclass(slots=True)
class Used:
    """Calls of one key and kind in one window, and of its whole tenant, this one included."""

    window: int
    limits: Limits
    quota: int
    by_key: int
    by_tenant: int
    ahead: int
    """Counted already, and still to come."""
    asked_at: float
    step: int

    @property
    def tenant_quota(self) -> int:
        return int(self.limits[_OF_TENANT])

    @property
    def left(self) -> int:
        """Calls until the nearest limit."""
        return min(self.quota - self.by_key, self.tenant_quota - self.by_tenant)


class Allowances:
    """The calls of one process.  Times are in seconds, windows are numbered."""

    def __init__(self) -> None:
        self._used: dict[tuple[UUID, UUID | None, str], Used] = {}
        self._lock = Lock()

    def taken(self, caller: tuple[UUID, UUID | None, str], window: int, now: float, cost: int) -> Used | None:
        """Take a call from what was counted ahead; None when the counter has to be asked."""
        with self._lock:
            used = self._used.get(caller)
            if used is None or used.window != window or used.ahead < cost:
                return None
            if not 0 <= now - used.asked_at < OFTEN_SECONDS:
                return None
            used.ahead -= cost
            used.by_key += cost
            used.by_tenant += cost
            return used

    def wanted(self, caller: tuple[UUID, UUID | None, str], window: int, now: float) -> int:
        """How many calls to count ahead with one that the counter is asked about."""
        with self._lock:
            used = self._used.get(caller)
            if used is None or used.window != window or not 0 <= now - used.asked_at < OFTEN_SECONDS:
                return 0
            return max(0, min(2 * used.step + 1, used.left // _SHARE - used.ahead))

    def counted(
        self,
        caller: tuple[UUID, UUID | None, str],
        window: int,
        now: float,
        counts: tuple[int, int],
        more: int,
        limits: Limits,
    ) -> Used:
        """Take in what the counter says, `more` calls ahead among it: of the key, and of its tenant."""
        with self._lock:
            before = self._used.get(caller)
            ahead = before.ahead if before and before.window == window else 0
            by_key, by_tenant = (count - more - ahead for count in counts)
            used = Used(window, limits, int(limits[_QUOTA[caller[2]]]), by_key, by_tenant, 0, now, more)
            used.ahead = max(0, min(ahead + more, used.left))
            if len(self._used) >= _MOST_KEPT:
                self._used.clear()
            self._used[caller] = used
            return used

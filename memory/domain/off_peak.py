"""When a daily sweep is due for a tenant: in its off-peak hours, else at the installation's hour.  UTC throughout.

Asked every hour.  What has not run for more than a day is caught up in the next hour that is allowed, once.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from memory.domain.policy_keep_rules import Sweeps

_LONGEST: Final = timedelta(hours=20)
"""Runs are as far apart as the window is long, so that one window sees one run; of a very long window, this."""
OVERDUE: Final = timedelta(hours=26)


def is_due(hour: int, rules: Sweeps, last: datetime | None, now: datetime) -> bool:
    """Whether a sweep with its own `hour` of the day is to run now; `last` is when it last began."""
    ago = now - last if last is not None else None
    if rules.off_peak_from is not None and rules.off_peak_until is not None:
        length = timedelta(hours=(rules.off_peak_until - rules.off_peak_from) % 24)
        inside = in_window(now.hour, rules.off_peak_from, rules.off_peak_until)
        return inside and (ago is None or ago >= min(length, _LONGEST))
    return ago is None or ago > OVERDUE or (now.hour == hour and ago > timedelta(hours=1))


def in_window(hour: int, begin: int, end: int) -> bool:
    """Whether the hour lies from `begin` until before `end`, which may be past midnight."""
    return begin <= hour < end if begin < end else hour >= begin or hour < end

"""Months, in which manifests are kept apart, and how long a tenant keeps its rows of them.  UTC throughout."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

AHEAD: Final = 3
"""Months that are made before anybody reads in them."""
EXACT_BELOW: Final = timedelta(days=90)
"""A retention shorter than this is kept to the day, row by row."""
DROPPED_WITHIN: Final = timedelta(days=3)
"""What a month that is over for every tenant may take until it is dropped whole."""


def month_of(instant: datetime) -> date:
    """The first day of its month."""
    return instant.astimezone(UTC).date().replace(day=1)


def following(month: date, count: int = 1) -> date:
    """The month `count` after it (before it, where negative)."""
    years, index = divmod(month.month - 1 + count, 12)
    return date(month.year + years, index + 1, 1)


def start_of(month: date) -> datetime:
    """Its first instant."""
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def is_over(month: date, longest: timedelta, now: datetime) -> bool:
    """Whether a month may go when the longest retention of all tenants is `longest`."""
    return start_of(following(month)) <= now - longest


def rows_end(retention: timedelta, now: datetime) -> datetime:
    """Before this instant a tenant's rows are deleted one by one.

    A short retention is kept to the day. A longer one waits until the month is over and could have been dropped
    whole, which costs nothing; readers have not been shown what is past the retention since its last day.
    """
    cutoff = now - retention
    return cutoff if retention < EXACT_BELOW else start_of(month_of(cutoff - DROPPED_WITHIN))

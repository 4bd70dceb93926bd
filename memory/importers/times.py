"""Times as foreign stores write them, as aware UTC. What cannot be read is None: no time is made up."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_FIRST: Final = datetime(1990, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MILLISECONDS_FROM: Final = 10**11


def read_time(value: object) -> datetime | None:
    """ISO 8601, or seconds or milliseconds since 1970. A time without a zone is taken as UTC."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        if isinstance(value, int | float):
            return _sane(
                datetime.fromtimestamp(value / (1000 if abs(value) >= _MILLISECONDS_FROM else 1), UTC)
            )
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return _sane(found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError, OSError):
        return None
    return None


def read_end(value: object) -> datetime | None:
    """The same for an end: a day without a time lasts until it is over."""
    if isinstance(value, str) and _DAY.fullmatch(value.strip()):
        start = read_time(value)
        return None if start is None else start + timedelta(days=1)
    return read_time(value)


def _sane(moment: datetime) -> datetime | None:
    """Years that no memory store has seen are counters or garbage, not times."""
    return moment if _FIRST <= moment <= _LAST else None

"""When to try again, and after how long.  Pure: chance and time are handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
RETRIED_CODES = frozenset({"busy", "idempotency_in_flight"})


@dataclass(frozen=True)
class RetryPolicy:
    """How patient the client is.

    ``attempts`` counts the first one; 1 never tries again.  A pause is what `Retry-After` says, never less, plus up
    to a tenth; without that header it doubles from ``first_pause`` (seconds) and is drawn at random below that.  All
    pauses of a call together stay below ``max_wait`` seconds: a longer one is not begun, the error is raised at once.
    """

    attempts: int = 4
    first_pause: float = 0.25
    max_pause: float = 8.0
    max_wait: float = 75.0

    def pause(
        self, attempt: int, waited: float, asked: float | None, chance: Callable[[], float]
    ) -> float | None:
        """Seconds before the next attempt, or None to give up.

        ``attempt`` is the number of the one that just failed, ``waited`` the seconds waited so far, ``asked`` what
        `Retry-After` said, ``chance`` gives numbers from 0 to 1.
        """
        if attempt >= self.attempts:
            return None
        if asked is not None:
            seconds = asked * (1 + 0.1 * chance())
        else:
            ceiling = min(self.max_pause, self.first_pause * 2.0 ** (attempt - 1))
            seconds = ceiling * (0.5 + 0.5 * chance())
        return seconds if waited + seconds <= self.max_wait else None


NEVER_AGAIN = RetryPolicy(attempts=1)


def read_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` asks for, as a number or as a date; None when it says nothing usable."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        return None
    return max(0.0, (when - (now or datetime.now(timezone.utc))).total_seconds())


def is_worth_retrying(status: int, code: str) -> bool:
    """Whether an answer says that the same request may succeed later, and that nothing was done by this one."""
    return status in RETRIED_STATUSES or (status == 409 and code in RETRIED_CODES)

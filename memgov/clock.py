"""The product's clock.  Services ask it once per call and pass the instant on.

History (the demo's 90 days, a simulated year) is made by running the real services under a moved clock;
nothing else may move it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_moved: ContextVar[datetime | None] = ContextVar("memgov_clock", default=None)


def now() -> datetime:
    """The present instant, aware UTC; the moved one inside `moved_to`."""
    return _moved.get() or datetime.now(UTC)


@contextmanager
def moved_to(instant: datetime) -> Iterator[None]:
    """Run the block as if it were `instant` (aware)."""
    if instant.tzinfo is None:
        raise ValueError("the clock moves to aware instants only")
    token = _moved.set(instant.astimezone(UTC))
    try:
        yield
    finally:
        _moved.reset(token)

"""Calls that lock memories in an order of their own, and so may meet a writer with another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from django.db import OperationalError
from psycopg.errors import DeadlockDetected

from memory.services.errors import Conflict

R = TypeVar("R")
BUSY: Final = "busy"
_TRIES: Final = 5


def unless_deadlocked(call: Callable[[], R]) -> R:
    """What the call comes to, made anew when the database took it back to let another one through.

    The call is one transaction. Raises `Conflict` (`BUSY`) when that goes on.
    """
    for _ in range(_TRIES):
        try:
            return call()
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
    raise Conflict(
        "too many writers change these memories at once; this step was not done, try again", code=BUSY
    )

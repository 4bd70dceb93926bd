"""A worker or process that dies in the middle."""

from __future__ import annotations


class Killed(BaseException):
    """What a killed process looks like from inside: no `except Exception` runs after it."""

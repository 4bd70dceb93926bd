"""Sortable identifiers (UUIDv7, RFC 9562).  Pure: used by the tables and by the domain alike."""

from __future__ import annotations

import os
import secrets
import threading
import time
from datetime import datetime
from typing import Final
from uuid import UUID

_RANDOM_BITS: Final = 74
_lock = threading.Lock()
_last: list[int] = [-1, 0]  # the millisecond of the last id, and its 74 random bits


def new_id(now: datetime | None = None) -> UUID:
    """A UUIDv7 for `now` (aware), or for the wall clock when no time is given.

    Ids made by one process for the same millisecond rise strictly: the random part grows by a random
    step (RFC 9562, 6.2, method 2), so that rows of one request keep the order in which they were made.
    The wall clock is read only here and only to order ids; nothing decides by it.
    """
    if now is not None and now.tzinfo is None:
        raise ValueError("an id needs an aware time")
    millisecond = time.time_ns() // 1_000_000 if now is None else int(now.timestamp() * 1000)
    with _lock:
        same = millisecond == _last[0]
        # One bit is left free, so that steps within the millisecond cannot run over the field.
        tail = _last[1] + 1 + _random(32) if same else _random(_RANDOM_BITS - 1)
        _last[:] = [millisecond, tail]
    high, low = tail >> 62, tail & ((1 << 62) - 1)
    return UUID(int=(millisecond & (1 << 48) - 1) << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low)


def _random(bits: int) -> int:
    return int.from_bytes(os.urandom(10)) >> (80 - bits)


def floor_id(instant: datetime) -> UUID:
    """The least id that could be made at `instant` (aware) or later: `id >= floor_id(since)` reads no older rows."""
    if instant.tzinfo is None:
        raise ValueError("an id needs an aware time")
    return UUID(int=int(instant.timestamp() * 1000) << 80)


def id_series(now: datetime) -> tuple[str, int]:
    """The 24 digits that the ids of one statement have in common, and the number from which their last eight count up:
    for rows that the database makes by itself, thousands at a time.  An id is `digits` + eight hexadecimal digits."""
    tail = secrets.token_hex(10)
    common = f"{int(now.timestamp() * 1000):012x}7{tail[:3]}{'89ab'[int(tail[3], 16) & 3]}{tail[4:11]}"
    return common, secrets.randbits(30)

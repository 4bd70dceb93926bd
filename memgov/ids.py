"""Sortable identifiers (UUIDv7, RFC 9562 section 5.7).  Pure: used by models and by the domain."""

from __future__ import annotations

import secrets
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id(milliseconds: int | None = None) -> UUID:
    """A new UUIDv7.

    Ids made by one process rise strictly, also within one millisecond (the 12 bits after the time count
    up, section 6.2 method 1); ``milliseconds`` since 1970 replaces the clock, for replays of history.
    """
    global _last
    now = time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
    with _lock:
        stamp = now << 12
        if milliseconds is None:
            stamp = _last = max(stamp | secrets.randbits(8), _last + 1)
        else:
            stamp |= secrets.randbits(12)
    time_part, counter = stamp >> 12, stamp & 0xFFF
    value = time_part << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | secrets.randbits(62)
    return UUID(int=value)

"""Keys that a process has met before: a call begins with what its key was then, and asks whether it still is.

The look-up of a key would be a message of its own at the head of every call.  What it said last time is kept, and the
call's first transaction asks again, in the message of its first statement (`tenants.context.Assumption`).  A key that
was revoked, an agent that was paused, other grants or another policy end that transaction before anything of it is
kept, and the call begins anew with a look-up.  A call that needed no transaction is asked about before it is answered.
So nothing is done, shown or refused on what a key was.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeVar

from memgov import clock
from tenants.authentication import LAST_USED, KeyRefused, Presented, presented, refuse_closed, use_is_due
from tenants.context import Assumption, AssumptionWrong, assume, confirm_assumed
from tenants.principals import Principal

Answer = TypeVar("Answer")

_MOST_KEPT = 4096
# Set while a call is begun anew: what other threads keep meanwhile may be as old.
_anew: ContextVar[bool] = ContextVar("memgov_key_anew", default=False)


@dataclass(frozen=True, slots=True)
class _Met:
    """A key that was presented before, and the assumption that it is what it was."""

    presented: Presented
    assumption: Assumption


# By a hash of the whole key: what cannot be turned back into one may stay in memory.
_met: dict[bytes, _Met] = {}


def principal_assumed(text: str, request_id: str, *, along: str) -> Principal:
    """The agent that holds this key, as far as this process knows; within `on_what_is_known`.

    Raises `KeyRefused`.
    """
    now, about = clock.now(), sha256(text.encode()).digest()
    met = None if _anew.get() else _met.get(about)
    if met is None or use_is_due(met.presented.row, now) or _closed(met, now):
        found = presented(text, request_id, now, along=along)
        _keep(about, found)
        return found.principal
    assume(met.assumption)
    return replace(met.presented.principal, request_id=request_id)


def on_what_is_known(call: Callable[[], Answer]) -> Answer:
    """The answer of a call that knows its caller by `principal_assumed`; begun anew if what was known is over."""
    try:
        answer = call()
        confirm_assumed()
        return answer
    except AssumptionWrong as wrong:
        _met.pop(wrong.about, None)
        assume(None)
        begun = _anew.set(True)
        try:
            return call()
        finally:
            _anew.reset(begun)
    finally:
        assume(None)


def _closed(met: _Met, now: datetime) -> bool:
    """Whether the key is over by now, going by what is known: then its row is asked for."""
    try:
        refuse_closed(met.presented.row, now)
    except KeyRefused:
        return True
    return False


def _keep(about: bytes, found: Presented) -> None:
    was = _lasting(found.row)

    def is_still(row: tuple[Any, ...] | None) -> bool:
        return row is not None and _lasting(row) == was

    if len(_met) >= _MOST_KEPT:
        _met.clear()
    assumption = Assumption(about, found.principal.tenant_id, found.lookup, found.values, is_still)
    _met[about] = _Met(found, assumption)


def _lasting(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a use of the key does not change."""
    return row[:LAST_USED] + row[LAST_USED + 1 :]

"""Rate limits per key and per tenant, from the tenant's policy, counted in Redis in one round trip, and for a key that
calls often in none (`memory.api.allowances`).

A window is one minute by the clock.  When Redis does not answer, the call is allowed: a limit protects the
product from load, and must not be what takes it down.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1
from typing import Any, Final
from uuid import UUID

import redis
from django.conf import settings

from memgov import clock
from memory.api.allowances import Allowances, Used
from memory.api.problems import Problem, ProblemError
from memory.selectors.policies import active_policy
from tenants.context import tenant_context
from tenants.principals import Principal

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60
LIMITS_KEPT_SECONDS = 15
_allowances = Allowances()


_counts: ContextVar[list[str]] = ContextVar("memgov_counts")
"""What the work of `counted_once` was charged."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of the tightest limit, for the answer's headers."""

    name: str
    quota: int
    left: int
    reset: int

    def headers(self) -> dict[str, str]:
        """`RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)."""
        return {
            "RateLimit": f'"{self.name}";r={self.left};t={self.reset}',
            "RateLimit-Policy": f'"{self.name}";q={self.quota};w={WINDOW_SECONDS}',
        }


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    """A pool of its own with short patience; made at the first call, hence after a fork."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=0.5, socket_timeout=0.5)


# One command instead of five: what a pipeline costs is the packing and reading of each.
_COUNT = """
local counts = {redis.call('GET', KEYS[1])}
for at = 2, #KEYS do
    counts[at] = redis.call('INCRBY', KEYS[at], ARGV[1])
    if counts[at] == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[at], ARGV[2]) end
end
return counts
"""


_COUNT_SHA: Final = sha1(_COUNT.encode(), usedforsecurity=False).hexdigest()


def _counted(keys: Sequence[str], cost: int) -> Any:
    """What the script answers.  By a connection of the pool: the client's own way around it takes as long again."""
    pool = _redis().connection_pool
    connection = pool.get_connection()
    asked = (len(keys), *keys, cost, 2 * WINDOW_SECONDS)
    try:
        connection.send_command("EVALSHA", _COUNT_SHA, *asked)
        try:
            return connection.read_response()
        except redis.exceptions.NoScriptError:  # a server that was started anew
            connection.send_command("EVAL", _COUNT, *asked)
            return connection.read_response()
    finally:
        pool.release(connection)


def charge(principal: Principal, verb: str, cost: int = 1) -> Allowance | None:
    """Count a call (a batch costs its items).  Raises a 429 problem above a limit; None when nothing counts."""
    _counts.get([]).append(verb)
    now = clock.now().timestamp()
    window, reset = int(now) // WINDOW_SECONDS, WINDOW_SECONDS - int(now) % WINDOW_SECONDS
    caller = (principal.tenant_id, principal.key_id, verb)
    used = _allowances.taken(caller, window, now, cost)
    if used is None:
        try:
            used = _asked(principal, caller, window, now, cost)
        except redis.RedisError as error:
            log.warning("rate limits are not counted: %s", error)
            return None
    return _judged(verb, used, reset)


def _asked(
    principal: Principal, caller: tuple[UUID, UUID | None, str], window: int, now: float, cost: int
) -> Used:
    """What the counter says with this call, and perhaps some to come, counted."""
    limits_at = f"memgov:limits:{principal.tenant_id.hex}"
    by_key = f"memgov:rate:{principal.key_id.hex if principal.key_id else '-'}:{caller[2]}:{window}"
    by_tenant = f"memgov:rate:{principal.tenant_id.hex}:all:{window}"
    more = _allowances.wanted(caller, window, now)
    kept, key_count, tenant_count = _counted([limits_at, by_key, by_tenant], cost + more)
    limits = json.loads(kept) if kept else _load_limits(principal, limits_at)
    return _allowances.counted(caller, window, now, (int(key_count), int(tenant_count)), more, limits)


@contextmanager
def counted_once(principal: Principal, verb: str) -> Iterator[None]:
    """Count the block's work where nothing in it was counted: what is refused before it becomes a call is one, too."""
    token = _counts.set([])
    try:
        yield
    finally:
        uncounted = not _counts.get()
        _counts.reset(token)
        if uncounted:
            charge(principal, verb)


def _load_limits(principal: Principal, kept_at: str) -> dict[str, Any]:
    """The policy's limits, kept for some seconds so that a call need not ask the database."""
    with tenant_context(principal.tenant_id):
        limits = active_policy().policy.rate_limits.model_dump(mode="json")
    _redis().set(kept_at, json.dumps(limits), ex=LIMITS_KEPT_SECONDS)
    return limits


def _judged(verb: str, used: Used, reset: int) -> Allowance:
    mine = Allowance(f"{verb}s", used.quota, max(0, used.quota - used.by_key), reset)
    ours = Allowance("tenant", used.tenant_quota, max(0, used.tenant_quota - used.by_tenant), reset)
    if used.left >= 0:
        return mine if mine.left <= ours.left else ours
    over = mine if used.by_key > used.quota else ours
    whose = "this key" if over is mine else "this tenant"
    detail = (
        f"{over.quota} {'calls' if over is ours else over.name} a minute are allowed for {whose};"
        f" nothing was stored, try again in {reset} s"
    )
    raise ProblemError(
        Problem(429, "rate_limited", detail, headers={"Retry-After": str(reset), **over.headers()})
    )

"""Figures for Prometheus about calls and writes.  Never a tenant, key, scope or text as a label."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

CALLS = Counter("memgov_api_calls", "Calls by method, route and status.", ["method", "route", "status"])
SECONDS = Histogram(
    "memgov_api_call_seconds",
    "Time of a call by method and route.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
WRITES = Counter("memgov_writes", "Candidates by what became of them.", ["outcome", "reason"])

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


def observe_call(method: str, route: str, status: int, seconds: float) -> None:
    """Count one call.  Methods nobody serves share a label, or a caller could make labels without end."""
    method = method if method in _METHODS else "other"
    CALLS.labels(method, route, str(status)).inc()
    SECONDS.labels(method, route).observe(seconds)


def observe_write(outcome: str, reason: str | None) -> None:
    """Count what became of one candidate."""
    WRITES.labels(outcome, reason or "").inc()

"""What the process tells of itself: that it lives, whether it can serve, its figures, and how to authenticate.

Open to anyone who reaches the port; nothing here names a tenant.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from memgov import heartbeat
from memory.api.problems import Problem, plain
from memory.clients.embeddings import EmbedderError, get_embedder

# An embedder that answered need not be asked by every probe: loading one is slow, a remote one costs.
_EMBEDDER_GOOD_FOR_SECONDS = 60
_embedder_answered: list[float] = []


@require_safe
@never_cache
def livez(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing behind it is asked."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when everything that serving needs is there, else 503 with what is missing and why."""
    missing = {name: why for name, check in CHECKS.items() if (why := check()) is not None}
    if not missing:
        return JsonResponse({"status": "ready", "checked": list(CHECKS)})
    detail = "; ".join(f"{name}: {why}" for name, why in missing.items())
    problem = Problem(503, "not_ready", detail, headers={"Retry-After": "2"}, more={"missing": list(missing)})
    return plain(problem, request)


def _database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass('public.memory_memory') IS NOT NULL")
            return None if cursor.fetchone()[0] else "the tables are not there: run the migrations"
    except DatabaseError:
        return "does not answer (DATABASE_URL)"


def _broker() -> str | None:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)
    try:
        client.ping()
    except redis.RedisError:
        return "does not answer (REDIS_URL)"
    finally:
        client.close()
    return None


def _worker() -> str | None:
    if heartbeat.lives(heartbeat.WORKER):
        return None
    return f"gave no sign of life for {heartbeat.LIFE_SECONDS[heartbeat.WORKER]} s"


def _embedder() -> str | None:
    if settings.MEMGOV_EMBEDDER == "none":
        return None
    if _embedder_answered and monotonic() - _embedder_answered[0] < _EMBEDDER_GOOD_FOR_SECONDS:
        return None
    try:
        get_embedder(settings.MEMGOV_EMBEDDER).embed(["ready"])
    except EmbedderError as error:
        _embedder_answered.clear()
        return str(error)
    _embedder_answered[:] = [monotonic()]
    return None


CHECKS: dict[str, Callable[[], str | None]] = {
    "database": _database,
    "broker": _broker,
    "worker": _worker,
    "embedder": _embedder,
}


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Figures for Prometheus, of all processes of this server when they share a folder for them."""
    registry: CollectorRegistry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


@require_safe
def protected_resource(request: HttpRequest) -> HttpResponse:
    """How to authenticate here (RFC 9728): with an agent key as bearer credential."""
    return JsonResponse(resource_metadata(settings.PUBLIC_URL))


def resource_metadata(resource: str) -> dict[str, object]:
    """How to authenticate at this address; the MCP process says the same of its own."""
    return {
        "resource": resource,
        "resource_name": "memgov",
        "bearer_methods_supported": ["header"],
        "resource_documentation": f"{settings.PUBLIC_URL}/api/v1/docs/",
    }


@csrf_exempt
def mcp_is_elsewhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """A host that was given the address of the web process learns the right one."""
    detail = f"this is the web process; MCP (streamable HTTP) is served at {settings.MCP_URL}"
    return plain(Problem(404, "mcp_elsewhere", detail), request)

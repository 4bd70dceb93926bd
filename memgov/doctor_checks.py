"""The single checks of `memgov doctor`.

Each looks at one thing and returns what is well as a text, or raises `Wrong` with the remedy.  None of
them changes anything.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import redis
from django.conf import settings
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from memgov.celery import app
from memgov.embedded import runtime
from memory.clients.embeddings import EmbedderError, get_embedder
from tenants import boundary

APP, OWNER = "default", "owner"
OLDEST_POSTGRES = 15
OLDEST_VECTOR = (0, 8)
EXTENSIONS = ("vector", "pg_trgm", "btree_gin", "unaccent")
LEAST_FREE = 1024**3
ROLES_FILE = "memgov/embedded/roles.sql"


class Wrong(Exception):
    """What is wrong, and what to do about it."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(what)
        self.mend = mend


def check_settings() -> str:
    """They were read to get here; what remains is what only warns."""
    if settings.DEBUG:
        raise Wrong("MEMGOV_DEBUG is on", "unset it: it shows internals to whoever causes an error")
    return f"read; data in {settings.DATA_DIR}"


def check_database() -> str:
    """The app's connection and the server's version."""
    began = perf_counter()
    with connections[APP].cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('server_version_num')::int")
        version, number = cursor.fetchone()
    if number // 10_000 < OLDEST_POSTGRES:
        raise Wrong(f"PostgreSQL {version}", f"use PostgreSQL {OLDEST_POSTGRES} or newer")
    return f"PostgreSQL {version} answers in {(perf_counter() - began) * 1000:.0f} ms"


def check_migrations() -> str:
    """The role that migrates, and whether everything is migrated."""
    executor = MigrationExecutor(connections[OWNER])
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise Wrong(
            f"{len(missing)} migrations are not applied", "run `python manage.py migrate --database owner`"
        )
    return f"{connections[OWNER].settings_dict['USER']} can migrate; nothing is missing"


def check_extensions() -> str:
    """What the tables and searches need, at versions they need."""
    with connections[APP].cursor() as cursor:
        cursor.execute(
            "SELECT extname, extversion FROM pg_extension WHERE extname = ANY(%s)", [list(EXTENSIONS)]
        )
        found = dict(cursor.fetchall())
    if missing := [name for name in EXTENSIONS if name not in found]:
        raise Wrong(f"missing: {', '.join(missing)}", f"run {ROLES_FILE} as a superuser in this database")
    if tuple(int(part) for part in found["vector"].split(".")[:2]) < OLDEST_VECTOR:
        raise Wrong(
            f"pgvector {found['vector']} is too old",
            "install 0.8 or newer, then ALTER EXTENSION vector UPDATE",
        )
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))


def check_roles() -> str:
    """The app's role must not be able to pass row-level security."""
    if problems := boundary.role_problems():
        raise Wrong("; ".join(problems), f"let DATABASE_URL name the role memgov_app ({ROLES_FILE})")
    role = connections[APP].settings_dict["USER"]
    return f"{role} is no superuser, owns nothing and cannot pass row-level security"


def check_row_level_security() -> str:
    """Every table with a tenant is locked, whoever asks."""
    unsecured, loose = boundary.unsecured_tables(), boundary.keys_without_tenant()
    if unsecured:
        raise Wrong(
            f"not forced on {', '.join(unsecured)}", "as the owner: ALTER TABLE … FORCE ROW LEVEL SECURITY"
        )
    if loose:
        raise Wrong(
            f"keys that do not start with the tenant: {', '.join(loose)}",
            "run the migrations of this version",
        )
    return "forced on every table of a tenant"


def check_broker() -> str:
    """Redis or Valkey answers and drops nothing."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=3)
    try:
        about: Any = client.info()
    except redis.RedisError as error:
        raise Wrong(f"no answer: {error}", "check REDIS_URL, or start ours with `memgov up`") from None
    finally:
        client.close()
    if about.get("maxmemory") and about.get("maxmemory_policy") != "noeviction":
        raise Wrong("may drop queued tasks when full", "set maxmemory-policy noeviction")
    return f"{about.get('server_name', 'redis')} {about.get('valkey_version') or about.get('redis_version')}"


def check_worker() -> str:
    """A Celery worker answers over the broker."""
    answers = app.control.broadcast("ping", reply=True, timeout=5.0, limit=1)
    if not answers:
        raise Wrong("no worker answers", "start one: `memgov up`, or `memgov run worker`")
    return ", ".join(sorted(name for answer in answers for name in answer))


def check_mcp() -> str:
    """The address that hosts are given leads to the MCP process: it asks for a key, as it should."""
    running = runtime.read(settings.DATA_DIR) or {}
    url = running.get("mcp_url") or settings.MCP_URL
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {"Accept": "application/json, text/event-stream"}
    try:
        answer = httpx.post(url, json=hello, headers=accepted, timeout=5)
    except httpx.HTTPError as error:
        raise Wrong(
            f"{url} does not answer: {error}",
            "start it: `memgov up`, or `memgov run mcp`; check MEMGOV_MCP_URL",
        ) from None
    if answer.status_code != httpx.codes.UNAUTHORIZED or "resource_metadata" not in answer.headers.get(
        "WWW-Authenticate", ""
    ):
        raise Wrong(
            f"{url} answers {answer.status_code}, not as MCP", "set MEMGOV_MCP_URL to where MCP is served"
        )
    return f"answers at {url}"


def check_embedder() -> str:
    """The configured embedder turns a text into numbers."""
    if settings.MEMGOV_EMBEDDER == "none":
        return "none: search is by text only"
    began = perf_counter()
    embedder = get_embedder(settings.MEMGOV_EMBEDDER)
    try:
        embedder.embed(["how is it going"])
    except EmbedderError as error:
        raise Wrong(str(error), "check MEMGOV_EMBEDDER (minilm, hash, none or openai:URL)") from None
    milliseconds = (perf_counter() - began) * 1000
    return f"{embedder.model_id}, {embedder.dim} dimensions, first text in {milliseconds:.0f} ms"


def check_disk() -> str:
    """Room where our data is kept."""
    place = Path(settings.DATA_DIR)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE:
        raise Wrong(
            f"{free / 1024**2:.0f} MB free at {place}", "make room: PostgreSQL stops when the disk is full"
        )
    return f"{free / 1024**3:.1f} GB free at {place}"

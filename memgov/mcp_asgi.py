"""The MCP process's entry point (uvicorn).  Refuses to start with a hole in the tenant boundary, as the web does."""

import os

import django
from django.core.checks import Tags, run_checks
from django.db import connections
from django.urls import get_resolver

from memgov import shared_metrics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
shared_metrics.share()
django.setup()

from memory.mcp.http import Front  # noqa: E402 - it imports models

_problems = run_checks(tags=[Tags.database], databases=["default"])
if _problems:
    raise SystemExit(
        "memgov: the database does not hold the tenant boundary:\n" + "\n".join(map(str, _problems))
    )
connections.close_all()  # the threads that work have connections of their own
get_resolver().url_patterns  # noqa: B018 - loaded before the first call, which would wait for it

app = Front()

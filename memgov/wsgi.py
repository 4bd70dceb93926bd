"""The web process's entry point (gunicorn, threads).  Refuses to start with a hole in the tenant boundary."""

import os

from django.core.checks import Tags, run_checks
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import get_resolver

from memgov import shared_metrics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
shared_metrics.share()
application = get_wsgi_application()

_problems = run_checks(tags=[Tags.database], databases=["default"])
if _problems:
    raise SystemExit(
        "memgov: the database does not hold the tenant boundary:\n" + "\n".join(map(str, _problems))
    )
connections.close_all()  # nothing that a forked process could share
# Loaded here, once, before the server forks; otherwise each worker would do it at its first request.
get_resolver().url_patterns  # noqa: B018

"""The web process's entry point (gunicorn, threads).  Refuses to start with a hole in the tenant boundary."""

import os
from collections.abc import Iterable
from typing import Any

from django.core.checks import Tags, run_checks
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import get_resolver

from memgov import shared_metrics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
shared_metrics.share()
_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django, and a 400 where it cannot even make a request: a charset that is no encoding of text (`zlib`)."""
    try:
        return _django(environ, start_response)
    except (LookupError, UnicodeError):  # what views raise never comes this far: Django answers for it
        start_response("400 Bad Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"The request is malformed.\n"]


_problems = run_checks(tags=[Tags.database], databases=["default"])
if _problems:
    raise SystemExit(
        "memgov: the database does not hold the tenant boundary:\n" + "\n".join(map(str, _problems))
    )
connections.close_all()  # nothing that a forked process could share
# Loaded here, once, before the server forks; otherwise each worker would do it at its first request.
get_resolver().url_patterns  # noqa: B018

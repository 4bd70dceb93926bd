"""A bare Django REST framework service: one row written, or one vector search, and nothing governed.

Served by gunicorn with the same command line as memgov's web process.  `BENCH_DATABASE_URL` names its database.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

import django
from django.conf import settings

_url = urlsplit(os.environ["BENCH_DATABASE_URL"])
settings.configure(
    DEBUG=False,
    SECRET_KEY="only for the benchmark",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=[],
    USE_TZ=True,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _url.path[1:],
            "USER": _url.username,
            "PASSWORD": unquote(_url.password or ""),
            "HOST": _url.hostname,
            "PORT": _url.port,
            "CONN_MAX_AGE": None,
        }
    },
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import serializers  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from bench.systems.floor import INSERT, LINES, NEWEST, SEARCH  # noqa: E402
from bench.vectors import vector  # noqa: E402


class WriteBody(serializers.Serializer[Any]):
    """One memory."""

    owner = serializers.CharField()
    subject = serializers.CharField()
    predicate = serializers.CharField()
    value = serializers.CharField()
    text = serializers.CharField()


class Memories(APIView):
    """`POST memories`"""

    def post(self, request: Any) -> Response:
        body = WriteBody(data=request.data)
        body.is_valid(raise_exception=True)
        fields = body.validated_data
        values = [fields[name] for name in ("owner", "subject", "predicate", "value", "text")]
        with connection.cursor() as cursor:
            cursor.execute(f"{INSERT} RETURNING id", [*values, _literal(fields["text"])])
            made = cursor.fetchone()[0]
        return Response({"id": made, "outcome": "stored"}, status=201)


class Retrieve(APIView):
    """`POST retrieve`"""

    def post(self, request: Any) -> Response:
        asked = request.data
        with connection.cursor() as cursor:
            search = SEARCH.replace("<=> %s", "<=> %s::vector")
            cursor.execute(search, [_literal(asked["query"]), asked["owner"], asked["limit"]])
            rows = cursor.fetchall()
        found = [{"id": made, "text": text, "score": 1 - distance} for made, text, distance in rows]
        return Response({"results": found})


class Digest(APIView):
    """`GET digest`"""

    def get(self, request: Any) -> Response:
        with connection.cursor() as cursor:
            cursor.execute(NEWEST, [request.query_params["owner"], LINES])
            rows = cursor.fetchall()
        return Response({"text": "\n".join(text for (text,) in rows)})


def _literal(text: str) -> str:
    return "[" + ",".join(f"{value:.6g}" for value in vector(text)) + "]"


urlpatterns = [
    path("api/v1/memories", Memories.as_view()),
    path("api/v1/retrieve", Retrieve.as_view()),
    path("api/v1/digest", Digest.as_view()),
]
application = get_wsgi_application()

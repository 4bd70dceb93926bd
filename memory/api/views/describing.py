"""The API's description, for programs and for people.  Open to anyone: it tells nothing about any tenant."""

from __future__ import annotations

import json
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memory.api.schema import describe


@lru_cache(maxsize=1)
def _document() -> bytes:
    """Made once per process: it only changes with the code."""
    return json.dumps(describe(), ensure_ascii=False).encode()


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """`GET schema/`: OpenAPI 3.1 as JSON."""
    return HttpResponse(_document(), content_type="application/vnd.oai.openapi+json")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """`GET docs/`: Swagger UI, without any script or style in the page, so that the strict policy holds here too."""
    return render(request, "api/docs.html", {"schema_url": reverse("api:schema")})

"""What every request gets: an id for all it does (log lines, audit events, the answer's header), and a language."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from memgov.ids import new_id

_SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestIdMiddleware:
    """Takes a well-formed ``X-Request-ID`` or makes one, and sends it back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request.request_id = given if _SAFE.fullmatch(given) else f"req_{new_id().hex}"  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        return response


class AccountLanguageMiddleware:
    """The language of the account wins over cookie and browser, which `LocaleMiddleware` has looked at before.

    Without a session there is no account to ask, and a page that needs none costs no query.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            chosen = getattr(request.user, "language", "")
            if chosen in dict(settings.LANGUAGES) and chosen != translation.get_language():
                translation.activate(chosen)
                request.LANGUAGE_CODE = chosen
        return self.get_response(request)

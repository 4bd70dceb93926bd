"""Two lanes for requests: calls of the API pass only what concerns them, pages pass everything.

An agent's call has no cookie, no form and no page; sessions, CSRF tokens, languages, messages and nonces would cost it
a tenth of its time and do nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.module_loading import import_string

API = "/api/v1/"
# The page to try the API on is a page.
PAGES_OF_THE_API = (f"{API}docs",)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def is_call(request: HttpRequest) -> bool:
    """Whether the request is a call of the API."""
    path = request.path_info
    return path.startswith(API) and not path.startswith(PAGES_OF_THE_API)


class PageMiddleware:
    """The middleware of `PAGE_MIDDLEWARE`, in its order, for everything but calls of the API."""

    def __init__(self, get_response: GetResponse) -> None:
        self._call = get_response
        self._views: list[Callable[..., Any]] = []
        chain: GetResponse = get_response
        for name in reversed(settings.PAGE_MIDDLEWARE):
            layer = import_string(name)(chain)
            if hasattr(layer, "process_view"):
                self._views.insert(0, layer.process_view)
            chain = cast(GetResponse, convert_exception_to_response(layer))
        self._page = chain

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not is_call(request):
            return self._page(request)
        # A page that this thread answered may have left its reader's language behind; calls are answered in English.
        with translation.override(settings.LANGUAGE_CODE):
            response = self._call(request)
        if not response.streaming and not response.has_header("Content-Length"):
            response.headers["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]
        # What `CONTENT_SECURITY_POLICY` and `X_FRAME_OPTIONS` do for pages: nothing in a call's answer is to be run.
        response.headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        response.headers.setdefault("X-Frame-Options", "DENY")
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> Any:
        """What those of the list say before the view."""
        if is_call(request):
            return None
        for ask in self._views:
            answer = ask(request, view, args, kwargs)
            if answer is not None:
                return answer
        return None

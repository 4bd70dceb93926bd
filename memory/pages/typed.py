"""What is typed into a page has to be text that can be kept, whichever field of whichever form it came from."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render

from memgov.bodies import is_packed
from memory.pages.access import uncached

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# Never shown again, even to the person who typed it.
_SECRET = ("password", "csrfmiddlewaretoken", "code", "credential", "secret", "token")


class TypedText:
    """Refuses forms and addresses with text that no table can keep (NUL), every encoding but UTF-8, and packed forms.

    Stands here and not in each view, so that a new field cannot be forgotten.  A refused form is shown again field by
    field, without what cannot be kept: nothing that was typed is lost, nothing was saved.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._next(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """The refusal, or None.  Comes after the check of the CSRF token, which reads the form anyway."""
        if request.encoding and not _is_utf8(request.encoding):
            raise BadRequest("a page takes UTF-8 only")
        if is_packed(request.headers.get("Content-Encoding", "")):
            refused = render(request, "415.html", status=415)
            refused["Accept-Encoding"] = "identity"
            return uncached(refused)
        if request.method == "POST" and getattr(view, "reads_files", False):
            return None  # such a view says first where its file goes; its form refuses NUL by itself
        given = request.POST if request.method == "POST" else request.GET
        if not _unkept(given):
            return None
        typed = [
            {"name": name, "text": text.replace("\x00", "\N{REPLACEMENT CHARACTER}")}
            for name, texts in given.lists()
            for text in texts
            if text.strip("\x00 ") and not any(word in name.lower() for word in _SECRET)
        ]
        return uncached(render(request, "400_text.html", {"typed": typed}, status=400))


def _is_utf8(name: str) -> bool:
    return codecs.lookup(name).name == "utf-8"  # Django lets no name through that is not known


def _unkept(given: QueryDict) -> bool:
    return any("\x00" in text for name, texts in given.lists() for text in (name, *texts))

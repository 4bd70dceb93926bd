"""How a view answers: pages and partials, what was refused and why, and the message that follows a redirect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from memory.domain.ids import parse_id
from memory.pages.access import Viewer, denied_page, role_label
from memory.pages.addresses import path_of
from memory.services.errors import Denied, NotFound, ServiceError
from memory.services.said import said

Context = Mapping[str, Any]


class SeeOther(HttpResponseRedirect):
    """After a POST: look here, with GET."""

    status_code = 303


def url(viewer: Viewer, name: str, *args: Any, **query: Any) -> str:
    """The address of a page of the viewer's tenant; empty query values are left out."""
    path = path_of(name, viewer.tenant.slug, *args)
    given = {key: value for key, value in query.items() if value not in ("", None)}
    return f"{path}?{urlencode(given)}" if given else path


def target(request: HttpRequest) -> str:
    """The id of the part that htmx asks for; "" when the whole page is wanted."""
    if not request.headers.get("HX-Request") or request.headers.get("HX-History-Restore-Request"):
        return ""
    return request.headers.get("HX-Target", "")


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks, so that the answer is a part and not a page."""
    return bool(request.headers.get("HX-Request"))


def answer(request: HttpRequest, template: str, context: Context, status: int = 200) -> HttpResponse:
    """Render inside the view's tenant context."""
    return render(request, template, dict(context), status=status)


def row_id(prefix: str, text: str) -> UUID:
    """The id in a URL; anything malformed is simply not there."""
    try:
        return parse_id(prefix, text)
    except ValueError:
        raise Http404 from None


def ids_in(texts: Sequence[str], most: int) -> tuple[UUID, ...]:
    """The memories that a form names, once each, among its first `most`; what cannot be read names nothing."""
    found = []
    for text in texts[:most]:
        try:
            found.append(parse_id("mem", text))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))


def version_of(request: HttpRequest) -> int:
    """The version that the form was made for; a form without one was not made by us, and decides nothing."""
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def day_end(text: str) -> datetime | None:
    """The end of a day typed into a date field, in UTC; None when the field is empty.  ValueError otherwise."""
    return datetime.combine(date.fromisoformat(text), time(23, 59, 59), UTC) if text else None


def flash(request: HttpRequest, text: str, undo_url: str = "") -> None:
    """A message on the next page, with an Undo form where there is something to undo."""
    messages.success(request, text, extra_tags=f"undo:{undo_url}" if undo_url else "")


def flash_error(request: HttpRequest, text: str) -> None:
    """A message on the next page about what was not done."""
    messages.error(request, text)


def raise_or_deny(error: ServiceError) -> HttpResponse:
    """The answers that look the same everywhere: not there, and not for you.  Other errors go on."""
    if isinstance(error, NotFound):
        raise Http404 from None
    if isinstance(error, Denied):
        return denied_page(role_label("reviewer") if error.code == "role_denied" else "")
    raise error


def sentence(error: ServiceError) -> str:
    """The error as a sentence of its own, in the reader's language."""
    text = said(error.detail.strip())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."

"""A queue: a list beside the item that is being decided.  One way for promotions, contradictions and quarantine.

A page of its own, a list or a detail for htmx, and the answers to a decision: done, refused for a missing reason,
too late.  What an item is and how it is decided is told by a `Queue`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from memory.domain.ids import show_id
from memory.pages.access import Viewer
from memory.pages.answers import Context, SeeOther, answer, flash, target, url, wants_part
from memory.selectors.pages_members import saved_views_of
from tenants.context import tenant_context

LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What the URL asks of a queue."""

    view: str
    q: str
    cursor: str
    sort: str = ""

    @property
    def qs(self) -> str:
        """View, search and order, as every link of the queue carries them."""
        given = (("view", self.view), ("q", self.q), ("sort", self.sort))
        return urlencode({name: value for name, value in given if value})


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of a queue: the items as the list shows them, their ids, and the cursor of what is older.  `cut`: what
    lies far back was not looked at, and no further page does."""

    items: Sequence[Mapping[str, Any]]
    ids: Sequence[UUID]
    older: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """What a queue consists of.  `rows`, `detail`, `following` and `counts` read inside a tenant context."""

    name: str
    one: str
    prefix: str
    views: Sequence[tuple[str, Any]]
    rows: Callable[[Viewer, Asked], Rows]
    detail: Callable[[Viewer, UUID], dict[str, Any] | None]
    following: Callable[[Viewer, Asked, UUID], UUID | None]
    counts: Callable[[Viewer], Mapping[str, int]]
    sorts: Sequence[tuple[str, Any]] = ()

    def template(self, part: str) -> str:
        return f"pages/{self.name}/{part}.html"


@dataclass(frozen=True, slots=True)
class Clash:
    """Someone was faster, or what was decided on has changed."""

    by: str = ""
    did: str = ""
    reason: str = ""
    changed: Sequence[str] = ()


def asked(request: HttpRequest, queue: Queue) -> Asked:
    """The query string, read kindly: an unknown view is the first one."""
    view = request.GET.get("view", "")
    known = [slug for slug, _ in queue.views]
    q = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    sort = request.GET.get("sort", "")
    sort = sort if sort in [slug for slug, _ in queue.sorts[1:]] else ""  # the first is the default
    return Asked(view if view in known else known[0], q, request.GET.get("after", ""), sort)


def show(
    request: HttpRequest,
    viewer: Viewer,
    queue: Queue,
    item: UUID | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """The page, or the part of it that htmx asks for.  Opens the tenant context."""
    want, query = target(request), asked(request, queue)
    with tenant_context(viewer.tenant.id):
        if want == "detail" and item is not None:
            context = _base(query) | {"sel": _found(queue, viewer, item), **more}
            return answer(request, queue.template("_detail"), context, status)
        context = _listed(viewer, queue, query)
        if want == "list":
            return answer(request, queue.template("_list"), context | {"sel": None})
        chosen = item if item is not None else next(iter(context["ids"]), None)
        sel = _found(queue, viewer, chosen) if chosen else None
        context |= {"sel": sel, "chosen": item is not None, **more}
        return answer(request, queue.template("index"), context, status)


def following(request: HttpRequest, viewer: Viewer, queue: Queue, item: UUID) -> UUID | None:
    """What comes after the item in the reviewer's view; asked before the item is decided."""
    with tenant_context(viewer.tenant.id):
        return queue.following(viewer, asked(request, queue), item)


def decided(
    request: HttpRequest,
    viewer: Viewer,
    queue: Queue,
    item: UUID,
    following: UUID | None,
    text: str,
    *,
    undo_url: str = "",
    relist: bool = False,
) -> HttpResponse:
    """After a decision: the next item and the message, or a redirect to it without htmx."""
    query = asked(request, queue)
    here = _address(viewer, queue, query, following)
    if not wants_part(request):
        flash(request, text, undo_url)
        return SeeOther(here)
    toast = {"text": text, "tone": "ok", "undo_url": undo_url, "undo_target": "#detail"}
    relist = relist or following is None  # an emptied list says so
    with tenant_context(viewer.tenant.id):
        sel = queue.detail(viewer, following) if following else None
        more = {"sel": sel, "toast": toast, "relist": relist, "gone": [show_id(queue.prefix, item)]}
        found = _listed(viewer, queue, query) if relist else _base(query) | _tabs(viewer, queue, query)
        response = answer(request, queue.template("_after"), found | more)
    response["HX-Push-Url"] = here
    return response


def relisted(
    request: HttpRequest, viewer: Viewer, queue: Queue, text: str, *, undo_url: str = ""
) -> HttpResponse:
    """After several decisions: the queue anew with its first item, and the message."""
    query = asked(request, queue)
    if not wants_part(request):
        flash(request, text, undo_url)
        return SeeOther(_address(viewer, queue, query, None))
    with tenant_context(viewer.tenant.id):
        context = _listed(viewer, queue, query)
        first = next(iter(context["ids"]), None)
        context |= {
            "sel": queue.detail(viewer, first) if first else None,
            "toast": {"text": text, "tone": "ok", "undo_url": undo_url, "undo_target": "#detail"},
            "relist": True,
        }
        return answer(request, queue.template("_after"), context)


def too_late(
    request: HttpRequest, viewer: Viewer, queue: Queue, item: UUID, clash: Clash, reason: str = ""
) -> HttpResponse:
    """409: the item as it is now, with what happened to it; the list is sent anew."""
    more = {"clash": clash, "reason": reason}
    if not wants_part(request):
        return show(request, viewer, queue, item, 409, **more)
    with tenant_context(viewer.tenant.id):
        context = _listed(viewer, queue, asked(request, queue))
        context |= {"sel": _found(queue, viewer, item), "relist": True, "toast": None, **more}
        return answer(request, queue.template("_after"), context, 409)


def incomplete(
    request: HttpRequest, viewer: Viewer, queue: Queue, item: UUID, error: str, reason: str, **more: Any
) -> HttpResponse:
    """422: the form as it was sent, with what is missing; the keyboard goes on with the same action."""
    more["intent"] = request.POST.get("action", "")
    return show(request, viewer, queue, item, 422, error=error, reason=reason, **more)


def _address(viewer: Viewer, queue: Queue, query: Asked, item: UUID | None) -> str:
    name, ids = (queue.one, [show_id(queue.prefix, item)]) if item else (queue.name, [])
    return url(viewer, name, *ids, view=query.view, q=query.q, sort=query.sort)


def _found(queue: Queue, viewer: Viewer, item: UUID) -> dict[str, Any]:
    found = queue.detail(viewer, item)
    if found is None:
        raise Http404
    return found


def _base(query: Asked) -> dict[str, Any]:
    return {
        "q": query.q, "view": query.view, "sort": query.sort, "qs": query.qs, "filtered": bool(query.q),
    }  # fmt: skip


def _tabs(viewer: Viewer, queue: Queue, query: Asked) -> dict[str, Any]:
    counts = queue.counts(viewer)
    tabs = [
        {"slug": slug, "name": name, "count": counts.get(slug), "qs": Asked(slug, query.q, "", query.sort).qs}
        for slug, name in queue.views
    ]
    return {"tabs": tabs, "sorts": queue.sorts}


def _listed(viewer: Viewer, queue: Queue, query: Asked) -> dict[str, Any]:
    rows = queue.rows(viewer, query)
    more_url = (
        url(viewer, queue.name, view=query.view, q=query.q, sort=query.sort, after=rows.older)
        if rows.older
        else ""
    )
    found: Context = {
        "items": rows.items, "ids": rows.ids, "more_url": more_url, "queue_name": queue.name,
        "cut": rows.cut,
        "saved": _saved(viewer, queue),
    }  # fmt: skip
    return _base(query) | _tabs(viewer, queue, query) | dict(found)


def _saved(viewer: Viewer, queue: Queue) -> list[dict[str, str]]:
    """The viewer's own views of this queue, by name."""
    mine = [one for one in saved_views_of(viewer.user.id) if one.get("queue") == queue.name]
    return [
        {
            "name": one["name"],
            "url": url(viewer, queue.name, view=one["view"], q=one["q"], sort=one["sort"]),
        }
        for one in sorted(mine, key=lambda one: str(one["name"]).lower())
    ]

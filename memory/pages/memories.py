"""Memories: the explorer, and one memory with everything about it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.domain.types import Band, Kind, Origin, Status
from memory.models import Memory
from memory.pages import memory_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, row_id, target, url
from memory.pages.pager import pager
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.templatetags.chips import look_of
from memory.pages.wording import headed, timeline
from memory.selectors import pages_memories as explorer
from memory.selectors import pages_memory as found
from memory.selectors.mounts import declaring
from memory.selectors.pages_manifests import Reader, kept_since, readers_given
from memory.selectors.pages_memories import Wanted
from memory.selectors.pages_reach import agents_with_rights, readers_of
from memory.selectors.pages_traces import events_of, manifests_with
from memory.services.said import said
from tenants.context import tenant_context

_FILTERS = ("scope", "kind", "status", "band", "origin", "agent")
READERS_SHOWN = 30


@tenant_page("memories")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The explorer."""
    wanted, now = wanted_in(request.GET), clock.now()
    with tenant_context(viewer.tenant.id):
        policy = viewer.policy().policy
        page, total = explorer.page(wanted, policy, now, request.GET.get("at", ""))
        context: dict[str, Any] = {
            "items": [shapes.row(viewer, one, policy, now) for one in page.rows],
            "pager": pager(url(viewer, "memories"), query_of(wanted), page, total),
            "q": wanted.q,
            "filtered": wanted.filtered,
            "delete_all_url": url(viewer, "memories-delete", **query_of(wanted)) if wanted.filtered else "",
        }
        if target(request) == "rows":
            return answer(request, "pages/memories/_rows.html", context)
        context["filters"] = {name: getattr(wanted, name) for name in (*_FILTERS, "pinned")}
        context["options"] = _options()
        context["can_write"] = viewer.can("review")
        context["totals"] = {"live": explorer.live_count()}
        return answer(request, "pages/memories/index.html", context)


def wanted_in(query: QueryDict) -> Wanted:
    """The filters in an address or a form."""
    given = {name: query.get(name, "").replace("\x00", "")[:LONGEST_SEARCH] for name in (*_FILTERS, "q")}
    return Wanted(**{**given, "q": given["q"].strip()}, pinned=query.get("pinned") == "1")


def query_of(wanted: Wanted) -> dict[str, str]:
    """The filters as an address holds them."""
    given = {name: getattr(wanted, name) for name in ("q", *_FILTERS)}
    return {name: value for name, value in given.items() if value} | (
        {"pinned": "1"} if wanted.pinned else {}
    )


def _options() -> dict[str, list[dict[str, str]]]:
    return {
        "scopes": [{"value": name, "label": name} for name in explorer.scope_names()],
        "kinds": [{"value": one.value, "label": headed(one.value)} for one in Kind],
        "statuses": [
            {"value": one.value, "label": str(look_of("status", one.value).label)} for one in Status
        ],
        "bands": [{"value": one.value, "label": str(look_of("band", one.value).label)} for one in Band],
        "origins": [{"value": one.value, "label": headed(one.value)} for one in Origin],
        "agents": [{"value": show_id("agt", key), "label": name} for key, name in explorer.agent_names()],
    }


@tenant_page("memories")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One memory."""
    return detail(request, viewer, row_id("mem", item))


def detail(
    request: HttpRequest, viewer: Viewer, memory_id: UUID, status: int = 200, **more: Any
) -> HttpResponse:
    """The page of a memory; `more` is what an action that was refused adds (error, form, clash)."""
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        memory = found.memory_with_key(memory_id)
        if memory is None:
            raise Http404
        relatives = _relatives(viewer, memory)
        successor = next((one for one in relatives["derived"] if one["is_successor"]), None)
        context = {
            "m": shapes.whole(viewer, memory, viewer.policy().policy, now) | {"superseded_by": successor},
            "gone": memory.status == Status.ERASED.value,
            "do": shapes.allowed(viewer, memory),
            "revisions": shapes.revisions(found.revisions_of(memory.id)),
            "form": {},
            "declared_by": _mounts(viewer, memory),
            **relatives,
            **_given(viewer, memory, now),
            **_audit(viewer, memory),
            **more,
        }
        return answer(request, "pages/memories/detail.html", context, status)


def _mounts(viewer: Viewer, memory: Memory) -> list[dict[str, str]]:
    """The mounts that declare it, with their pages; not asked for where the tenant has none."""
    rows = declaring(memory.id) if viewer.policy().mounted else []
    return [{"name": row.name, "url": url(viewer, "mount", show_id("mnt", row.id))} for row in rows]


_RELATIONS = {
    "source": gettext_lazy("derived from"),
    "successor": gettext_lazy("replaced by"),
    "merged_into": gettext_lazy("merged into"),
    "predecessor": gettext_lazy("replaces"),
    "merged": gettext_lazy("took in"),
    "derived": gettext_lazy("led to"),
}


def _relatives(viewer: Viewer, memory: Memory) -> dict[str, Any]:
    sources: list[dict[str, Any]] = []
    derived: list[dict[str, Any]] = []
    for relation, row in found.relatives_of(memory):
        shown = {
            "id_text": show_id("mem", row.id),
            "url": shapes.address(viewer, row),
            "content": row.content or _("The text was erased"),
            "relation": _RELATIONS[relation],
            "is_successor": relation == "successor",
        }
        (derived if relation in ("derived", "successor", "merged_into") else sources).append(shown)
    promotions = [
        {
            "url": url(
                viewer,
                "promotion",
                show_id("prm", row.id),
                view="all" if row.status == "pending" else "decided",
            ),
            "to_scope": row.to_scope,
            "status": row.status,
            "asked_at": row.created_at,
        }
        for row in found.promotions_of(memory.id)
    ]
    return {"sources": sources, "derived": derived, "promotions": promotions}


def _given(viewer: Viewer, memory: Memory, now: datetime) -> dict[str, Any]:
    since = kept_since(viewer.policy().policy, now)
    given, total = manifests_with(memory.id, since)
    readers = readers_of(parse_scope(memory.scope), agents_with_rights())
    return {
        "manifests": [
            {
                "id_text": show_id("man", row.manifest_id),
                "url": url(viewer, "manifest", show_id("man", row.manifest_id)),
                "at": row.at,
                "agent": row.agent,
                "session": row.session,
                "used": row.used,
                "verdict": row.verdict,
                "rank": row.rank,
            }
            for row in given
        ],
        "manifests_total": total,
        "manifests_url": url(viewer, "manifests", memory=show_id("mem", memory.id)),
        "given_to": [_given_to(viewer, memory, row) for row in readers_given(memory.id, since)]
        if total
        else [],
        "readers": [{"name": one.name, "how": said(one.how)} for one in readers[:READERS_SHOWN]],
        "readers_total": len(readers),
    }


def _given_to(viewer: Viewer, memory: Memory, row: Reader) -> dict[str, Any]:
    """One agent that was given the memory, with the way to those reads."""
    agent = show_id("agt", row.agent_id) if row.agent_id else ""
    return {
        "agent": row.agent,
        "url": url(viewer, "manifests", memory=show_id("mem", memory.id), agent=agent),
        "given": row.given,
        "sessions": row.sessions,
        "used": row.used,
        "harmful": row.harmful,
        "last_at": row.last_at,
    }


def _audit(viewer: Viewer, memory: Memory) -> dict[str, Any]:
    shown = show_id("mem", memory.id)
    return {
        "audit": timeline(events_of([shown])),
        "audit_url": url(viewer, "audit", q=shown),
        "blast_url": url(viewer, "blast", memory=shown),
    }

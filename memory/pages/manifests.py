"""Reads: which session was given how much, what came of it, and the way to each manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Manifest
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, url
from memory.pages.pager import pager
from memory.pages.queue import LONGEST_SEARCH
from memory.selectors import pages_manifests as found
from memory.selectors.pages_manifests import Outcome, Sought
from memory.selectors.pages_memories import agent_names
from tenants.context import tenant_context

_FILTERS = ("session", "agent", "memory", "kind", "report")


@tenant_page("manifests")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """One page of manifests, the newest first."""
    sought = _sought(request)
    with tenant_context(viewer.tenant.id):
        since = found.kept_since(viewer.policy().policy, clock.now())
        page, total = found.page(sought, since, request.GET.get("at", ""))
        outcomes = found.outcomes_of([row.id for row in page.rows])
        context = {
            "items": [_row(viewer, row, outcomes) for row in page.rows],
            "pager": pager(url(viewer, "manifests"), asdict(sought), page, total),
            "filters": asdict(sought),
            "filtered": sought.filtered,
            "options": _options(),
            "blast_url": url(viewer, "blast", session=sought.session) if sought.session else "",
            "memory_url": url(viewer, "memory", sought.memory) if sought.memory.startswith("mem_") else "",
            "kept_days": viewer.policy().policy.retention.manifest_days,
        }
        return answer(request, "pages/manifests/index.html", context)


def _sought(request: HttpRequest) -> Sought:
    given = {
        name: request.GET.get(name, "").replace("\x00", "").strip()[:LONGEST_SEARCH] for name in _FILTERS
    }
    return Sought(**given)


def _options() -> dict[str, list[dict[str, str]]]:
    return {
        "agents": [{"value": show_id("agt", key), "label": name} for key, name in agent_names()],
        "kinds": [{"value": "retrieve", "label": _("Search")}, {"value": "digest", "label": _("Digest")}],
        "reports": [
            {"value": "reported", "label": _("Reported")},
            {"value": "missing", "label": _("Not reported")},
            {"value": "harmful", "label": _("Something did harm")},
        ],
    }


def _row(viewer: Viewer, row: Manifest, outcomes: Mapping[UUID, Outcome]) -> dict[str, Any]:
    shown, outcome = show_id("man", row.id), outcomes.get(row.id, Outcome())
    return {
        "id_text": shown,
        "url": url(viewer, "manifest", shown),
        "at": row.at,
        "agent": row.agent_name,
        "session": row.session,
        "session_url": url(viewer, "manifests", session=row.session) if row.session else "",
        "task": row.task,
        "kind": row.kind,
        "asked": row.query_text if row.kind == "retrieve" else str(row.request.get("scope", "")),
        "given": row.entry_count,
        "tokens": row.tokens,
        "left_out": sum(count for count in row.excluded.values() if isinstance(count, int)),
        "reported": row.usage_reported_at is not None,
        "used": outcome.used,
        "harmful": outcome.harmful,
    }

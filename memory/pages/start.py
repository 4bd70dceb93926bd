"""The start page of a tenant: what needs me, what is out of range, what I decided and can still take back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memgov import clock
from memory.domain.ids import show_id
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, url
from memory.pages.metrics import outside_range
from memory.selectors import health
from memory.selectors import pages_start as found
from memory.selectors.alert_rules import metrics_of
from memory.selectors.pages_counts import waiting
from memory.selectors.pages_paging import Tally
from memory.selectors.pages_promotions import needing
from memory.services import contradictions, promotion_decide, quarantine
from tenants.context import tenant_context

_ACTIONS = {
    "approve": "approved",
    "reject": "rejected",
    "quarantine": "quarantined",
}


@tenant_page("start")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """One glance at the tenant."""
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        begun = found.begun()
        context = {
            "needs": _needs(viewer, waiting(), needing(viewer.principal.id)),
            "metrics": outside_range(viewer, health.latest(), metrics_of("")),
            "recent": _recent(viewer, now),
            "steps": None if begun.memories else _steps(begun),
        }
        return answer(request, "pages/start.html", context)


def _needs(viewer: Viewer, open_items: Mapping[str, Tally], promotions: Tally) -> list[dict[str, Any]]:
    return [
        {
            "label": ngettext("promotion to decide", "promotions to decide", promotions),
            "count": promotions,
            "url": url(viewer, "promotions", view="needs"),
            "icon": "inbox",
            "hot": False,
        },
        {
            "label": ngettext(
                "contradiction to settle", "contradictions to settle", open_items["contradictions"]
            ),
            "count": open_items["contradictions"],
            "url": url(viewer, "contradictions"),
            "icon": "git-merge",
            "hot": False,
        },
        {
            "label": _("held in quarantine"),
            "count": open_items["quarantine"],
            "url": url(viewer, "quarantine"),
            "icon": "shield-x",
            "hot": True,
        },
        {
            "label": _("evicted, still restorable"),
            "count": open_items["evictions"],
            "url": url(viewer, "evictions", rule="evicted"),
            "icon": "archive",
            "hot": False,
        },
    ]


def _recent(viewer: Viewer, now: datetime) -> list[dict[str, Any]]:
    """The viewer's own decisions of every queue, newest first."""
    me, rows = viewer.principal, []
    for done in found.decisions_of(me.id, me.name, now):
        page, prefix = {
            "promotion": ("promotion", "prm"),
            "contradiction": ("contradiction", "con"),
            "quarantine": ("quarantined", "mem"),
        }[done.queue]
        shown = show_id(prefix, done.target)
        rows.append(
            {
                "id_text": shown,
                "text": "",
                "value": done.value,
                "url": url(viewer, page, shown),
                "at": done.at,
                "status_family": done.family,
                "status": _ACTIONS.get(done.action, done.action),
                "undo_url": _undo_url(viewer, done, shown, now) if done.standing else "",
            }
        )
    return rows


def _undo_url(viewer: Viewer, done: found.Done, shown: str, now: datetime) -> str:
    limits = {
        "promotion": promotion_decide.UNDO_FOR,
        "contradiction": contradictions.UNDO_FOR,
        "quarantine": quarantine.UNDO_FOR,
    }
    if now - done.at > limits[done.queue]:
        return ""
    if done.queue == "promotion":
        return url(viewer, "promotion-undo", done.decision.hex)
    return url(viewer, f"{done.queue}-undo", shown)


def _steps(begun: found.Begun) -> dict[str, Any]:
    """What a tenant without memories does first."""
    curl = (
        f"curl {settings.PUBLIC_URL}/api/v1/memories \\\n"
        "  -H 'Authorization: Bearer YOUR_AGENT_KEY' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        '  -d \'{"content": "Deploys run on Tuesdays.", "scope": "project:alpha"}\''
    )
    return {
        "agent_done": begun.agents,
        "key_done": begun.keys,
        "write_done": False,
        "curl": curl,
        "demo_url": "",
    }

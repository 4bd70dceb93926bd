"""Alerts: what needs a look, acknowledged or snoozed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock, heartbeat
from memory.domain.health import METRICS
from memory.domain.ids import parse_id, show_id
from memory.models import Alert
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.pager import pager
from memory.selectors import pages_alerts as found
from memory.services.alerts import SNOOZES, STANDING, alert_acknowledge, alert_snooze
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.said import said
from tenants.context import tenant_context
from tenants.models import Agent

VIEWS = (
    (found.OPEN, gettext_lazy("Needs a look")),
    (found.SNOOZED, gettext_lazy("Snoozed")),
    (found.ALL, gettext_lazy("All")),
)
_SNOOZE_NAMES = {1: gettext_lazy("1 hour"), 8: gettext_lazy("8 hours"), 24: gettext_lazy("1 day"),
                 168: gettext_lazy("7 days")}  # fmt: skip


@tenant_page("alerts")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The list of a view."""
    view = request.GET.get("view", "")
    view = view if view in dict(VIEWS) else found.OPEN
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        page = found.page(view, request.GET.get("at", ""), now)
        counts = found.counts(now)
        agents = _agents(page.rows)
        context = {
            "items": [_row(viewer, row, agents) for row in page.rows],
            "pager": pager(url(viewer, "alerts"), {"view": view}, page, None),
            "view": view,
            "tabs": [
                {"slug": slug, "name": name, "count": counts.get(slug), "qs": f"view={slug}"}
                for slug, name in VIEWS
            ],
            "snoozes": [{"hours": hours, "name": _SNOOZE_NAMES[hours]} for hours in SNOOZES],
            "silent": [name for name in (heartbeat.WORKER, heartbeat.BEAT) if not _lives(name)],
        }
        return answer(request, "pages/alerts/index.html", context)


def _lives(name: str) -> bool:
    """A cache that does not answer is no sign that a process is dead."""
    try:
        return heartbeat.lives(name)
    except Exception:
        return True


def _agents(rows: Any) -> dict[str, Agent]:
    """The agents that alerts are about, by shown id."""
    ids = [parse_id("agt", row.target) for row in rows if row.target.startswith("agt_")]
    return {show_id("agt", agent.id): agent for agent in Agent.objects.filter(id__in=ids)} if ids else {}


def _row(viewer: Viewer, row: Alert, agents: dict[str, Agent]) -> dict[str, Any]:
    agent = agents.get(row.target)
    return {
        "id_text": show_id("alr", row.id),
        "severity": row.severity,
        "message": said(row.message),
        "scope": row.scope,
        "count": row.count,
        "opened_at": row.opened_at,
        "last_at": row.last_at,
        "ended_at": row.ended_at if row.kind in STANDING else None,
        "stands": row.kind in STANDING and row.ended_at is None,
        "snoozed_until": row.snoozed_until,
        "acknowledged_by": row.acknowledged_by,
        "acknowledged_at": row.acknowledged_at,
        "note": row.note,
        "url": _about(viewer, row),
        "pause_id": row.target if agent and agent.paused_at is None and viewer.can("admin") else "",
        "paused": bool(agent and agent.paused_at),
        "can_act": row.acknowledged_at is None and viewer.can("review"),
    }


def _about(viewer: Viewer, row: Alert) -> str:
    """Where to look further."""
    if row.evidence.get("metric") in METRICS:
        return url(viewer, "health", metric=row.evidence["metric"], scope=row.scope)
    pages = {"agt": "agent", "mem": "memory"}
    name = pages.get(row.target.partition("_")[0])
    if name:
        return url(viewer, name, row.target)
    return url(viewer, "audit") if row.kind == "chain_broken" else ""


@tenant_page("alerts", read=None, write="review")
def acknowledge(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Seen."""
    note = request.POST.get("note", "").strip()
    return _acted(
        request,
        viewer,
        lambda: alert_acknowledge(viewer.principal, row_id("alr", item), note),
        _("Acknowledged."),
    )


@tenant_page("alerts", read=None, write="review")
def snooze(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Not now."""
    text = request.POST.get("hours", "")
    hours = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else -1
    done = _("Snoozed. Nothing is told of it until then.") if hours else _("It is back in the list.")
    return _acted(request, viewer, lambda: alert_snooze(viewer.principal, row_id("alr", item), hours), done)


def _acted(request: HttpRequest, viewer: Viewer, act: Callable[[], Alert], done: str) -> HttpResponse:
    try:
        act()
    except (Conflict, Invalid) as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        flash(request, done)
    return SeeOther(url(viewer, "alerts", view=request.POST.get("view", "")))

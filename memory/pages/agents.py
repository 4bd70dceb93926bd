"""Agents: register, look at what each wrote and how it ended, pause.  Their keys are in `agent_keys`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.pages import memory_shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, row_id, sentence, url
from memory.pages.forms import AgentForm, KeyForm
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.wording import headed, plain
from memory.selectors import pages_agents as found
from memory.services import tenancy
from memory.services.errors import Conflict, Invalid
from tenants.context import tenant_context
from tenants.models import Agent, AgentKey

OVERLAP = timedelta(hours=24)
WINDOW = timedelta(days=30)


@tenant_page("agents")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """All agents."""
    q = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    with tenant_context(viewer.tenant.id):
        items = [
            {
                "id_text": show_id("agt", row.id),
                "url": url(viewer, "agent", show_id("agt", row.id)),
                "name": row.name,
                "role": row.role,
                "status": "paused" if row.paused_at else "active",
                "keys_active": row.keys_active,
                "written_30d": row.written,
                "rejected_share": row.rejected / row.written if row.written else None,
                "last_seen_at": row.last_seen_at,
            }
            for row in found.agents(q, clock.now())
        ]
        context = {
            "items": items,
            "pager": None,
            "q": q,
            "filtered": bool(q),
            "can_register": viewer.can("admin"),
        }
        return answer(request, "pages/agents/index.html", context)


@tenant_page("agents", read="admin", write="admin")
def new(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Register an agent; its first key is made on its page."""
    form = AgentForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made = tenancy.agent_create(
                viewer.principal, data["name"], data["role"], data["grants"], description=data["description"]
            )
        except (Conflict, Invalid) as error:
            form.add_error(error.field if error.field in form.fields else None, sentence(error))
        else:
            flash(request, _("Registered. Now create its key."))
            return SeeOther(url(viewer, "agent", show_id("agt", made.id)))
    status = 422 if form.errors else 200
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/agents/new.html", {"form": form, "roles": _roles()}, status)


def _roles() -> list[dict[str, str]]:
    return [
        {"name": "orchestrator", "what": _("Reads, writes and proposes in shared and global as well.")},
        {
            "name": _("every other role"),
            "what": _("Reads and writes its own sessions, tasks and agent scope; reads shared and global."),
        },
    ]


@tenant_page("agents")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One agent."""
    return detail(request, viewer, agent_at(viewer, item))


def agent_at(viewer: Viewer, item: str) -> Agent:
    agent_id = row_id("agt", item)
    with tenant_context(viewer.tenant.id):
        agent = found.agent(agent_id)
    if agent is None:
        raise Http404
    return agent


def detail(
    request: HttpRequest, viewer: Viewer, agent: Agent, status: int = 200, **more: Any
) -> HttpResponse:
    now, shown = clock.now(), show_id("agt", agent.id)
    with tenant_context(viewer.tenant.id):
        keys, policy = found.keys_of(agent.id), viewer.policy().policy
        used = [key.last_used_at for key in keys if key.last_used_at]
        outcomes = found.outcomes_of(agent.id, now - WINDOW)
        total = sum(outcomes.values())
        context = {
            "agent": {
                "id_text": shown,
                "name": agent.name,
                "role": agent.role,
                "description": agent.description,
                "status": "paused" if agent.paused_at else "active",
                "trust_ceiling": max((key.trust_ceiling for key in keys if not key.revoked_at), default=None),
                "created_at": agent.created_at,
                "last_seen_at": max(used, default=None),
            },
            "grants": [_grant(*rule) for rule in found.grants_of(agent)],
            "outcomes": [
                {"label": headed(name), "count": count, "share": round(count / total, 4)}
                for name, count in outcomes.items()
            ],
            "keys": [
                {**key_shape(key, now), "blast_url": url(viewer, "blast", key=show_id("key", key.id))}
                for key in keys
            ],
            "refused": [
                {"reason": plain(row.reason), "scope": row.scope, "at": row.at, "origin": plain(row.origin)}
                for row in found.refused_of(agent.id)
            ],
            "recent": [memory_shapes.row(viewer, one, policy, now) for one in found.written_by(agent.id)],
            "memories_url": url(viewer, "memories", agent=shown),
            "manifests_url": url(viewer, "manifests", agent=shown),
            "blast_url": url(viewer, "blast", agent=shown),
            "can_manage": viewer.can("admin"),
            "key_form": KeyForm(auto_id="key-%s"),
            "new_key": "",
            "curl": "",
            **more,
        }
        return answer(request, "pages/agents/detail.html", context, status)


def _grant(pattern: str, verbs: Any, from_role: bool) -> dict[str, Any]:
    may = {verb: verb in verbs for verb in ("read", "write", "propose")}
    return {"pattern": pattern, "from_role": from_role, **may}


def key_shape(key: AgentKey, now: datetime) -> dict[str, Any]:
    ended = key.expires_at is not None and key.expires_at <= now
    soon = key.expires_at is not None and key.expires_at - now <= OVERLAP
    status = "revoked" if key.revoked_at else "expired" if ended else "rotating" if soon else "active"
    return {
        "id_text": show_id("key", key.id),
        "name": key.name,
        "prefix": f"mgk_…{key.prefix}",
        "status": status,
        "trust_ceiling": key.trust_ceiling,
        "networks": key.networks,
        "created_by": key.created_by,
        "created_at": key.created_at,
        "last_used_at": key.last_used_at,
        "expires_at": key.expires_at,
        "overlap_until": key.expires_at if status == "rotating" else None,
    }


@tenant_page("agents", read=None, write="admin")
def pause(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Stop the agent's keys from working, or let them work again."""
    agent, paused = agent_at(viewer, item), request.POST.get("pause") == "yes"
    tenancy.agent_pause(viewer.principal, agent, paused)
    flash(request, _("Paused. Its keys are refused.") if paused else _("Resumed. Its keys work again."))
    return SeeOther(url(viewer, "agent", item))

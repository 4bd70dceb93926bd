"""Agents and their keys: register, pause, create, rotate and revoke.  A key's text is shown once, in the answer
to the request that made it, and never stored, logged or put into a URL."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.pages import memory_shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.forms import AgentForm, KeyForm
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.wording import plain
from memory.selectors import pages_agents as found
from memory.services import tenancy
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.tenancy import NewKey
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
    return _detail(request, viewer, _agent(viewer, item))


def _agent(viewer: Viewer, item: str) -> Agent:
    agent_id = row_id("agt", item)
    with tenant_context(viewer.tenant.id):
        agent = found.agent(agent_id)
    if agent is None:
        raise Http404
    return agent


def _detail(
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
                {"label": plain(name).capitalize(), "count": count, "share": round(count / total, 4)}
                for name, count in outcomes.items()
            ],
            "keys": [
                {**_key(key, now), "blast_url": url(viewer, "blast", key=show_id("key", key.id))}
                for key in keys
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


def _key(key: AgentKey, now: datetime) -> dict[str, Any]:
    ended = key.expires_at is not None and key.expires_at <= now
    soon = key.expires_at is not None and key.expires_at - now <= OVERLAP
    status = "revoked" if key.revoked_at else "expired" if ended else "rotating" if soon else "active"
    return {
        "id_text": show_id("key", key.id),
        "prefix": f"mgk_…{key.prefix}",
        "status": status,
        "trust_ceiling": key.trust_ceiling,
        "created_at": key.created_at,
        "last_used_at": key.last_used_at,
        "expires_at": key.expires_at,
        "overlap_until": key.expires_at if status == "rotating" else None,
    }


@tenant_page("agents", read=None, write="admin")
def pause(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Stop the agent's keys from working, or let them work again."""
    agent, paused = _agent(viewer, item), request.POST.get("pause") == "yes"
    tenancy.agent_pause(viewer.principal, agent, paused)
    flash(request, _("Paused. Its keys are refused.") if paused else _("Resumed. Its keys work again."))
    return SeeOther(url(viewer, "agent", item))


@tenant_page("agents", read=None, write="admin")
def key_create(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Make a key and show it, this once."""
    agent, form = _agent(viewer, item), KeyForm(request.POST, auto_id="key-%s")
    if not form.is_valid():
        flash_error(request, _("Nothing was created: a trust ceiling lies between 0 and 1."))
        return _detail(request, viewer, agent, 422, key_form=form)
    made = tenancy.key_create(
        viewer.principal,
        agent,
        trust_ceiling=form.cleaned_data["trust_ceiling"],
        expires_at=form.expiry(clock.now()),
    )
    return _shown_once(request, viewer, agent, made)


@tenant_page("agents", read=None, write="admin")
def key_rotate(request: HttpRequest, viewer: Viewer, item: str, key: str) -> HttpResponse:
    """Make a successor; the old key works for one more day."""
    agent = _agent(viewer, item)
    old = _key_of(viewer, agent, key)
    try:
        made = tenancy.key_rotate(viewer.principal, old, clock.now() + OVERLAP)
    except Conflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "agent", item))
    except ServiceError as error:
        return raise_or_deny(error)
    return _shown_once(request, viewer, agent, made)


def _shown_once(request: HttpRequest, viewer: Viewer, agent: Agent, made: NewKey) -> HttpResponse:
    curl = f"curl {settings.PUBLIC_URL}/api/v1/whoami -H 'Authorization: Bearer {made.text}'"
    response = _detail(request, viewer, agent, new_key=made.text, curl=curl)
    response["Pragma"] = "no-cache"
    return response


def _key_of(viewer: Viewer, agent: Agent, key: str) -> AgentKey:
    key_id = row_id("key", key)
    with tenant_context(viewer.tenant.id):
        row = found.key_of(agent.id, key_id)
    if row is None:
        raise Http404
    return row


@tenant_page("agents", read="admin", write="admin")
def key_revoke(request: HttpRequest, viewer: Viewer, item: str, key: str) -> HttpResponse:
    """Ask, then end the key for good."""
    agent = _agent(viewer, item)
    row, reason = _key_of(viewer, agent, key), request.POST.get("reason", "").strip()
    if request.method == "POST" and reason:
        tenancy.key_revoke(viewer.principal, row, reason[:500])
        flash(request, _("Revoked. Calls with it fail from now on."))
        return SeeOther(url(viewer, "agent", item))
    missing = request.method == "POST"
    context = {
        "agent": {"id_text": item, "name": agent.name},
        "key": _key(row, clock.now()),
        "error": _("Give a reason: it is kept in the audit.") if missing else "",
        "reason": reason,
    }
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/agents/revoke.html", context, 422 if missing else 200)

"""Scopes: what is in use, who may do what where, and "can X read Y, and why?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.ids import parse_id, show_id
from memory.domain.scopes import ScopeKind, Verb, parse_scope
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, url
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.scope_forms import AccessForm
from memory.selectors import pages_scopes as found
from memory.selectors.pages_memory import memory_with_key
from memory.services.errors import NotFound
from memory.services.said import said
from memory.services.scope_access import access_explain, defaults_of
from tenants.context import tenant_context
from tenants.models import Agent, Grant

_VERBS = tuple(str(verb) for verb in Verb)


@tenant_page("scopes")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The tree, the matrix and the tester."""
    q = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    kind = request.GET.get("kind", "")
    kind = kind if kind in {str(one) for one in ScopeKind} else ""
    with tenant_context(viewer.tenant.id):
        agents = found.agents()
        form = AccessForm(request.GET if "agent" in request.GET else None, agents=_choices(agents))
        tested = _tested(viewer, form) if form.is_bound and form.is_valid() else None
        context = {
            "tree": _tree(viewer, q, kind),
            "q": q,
            "kind": kind,
            "matrix": _matrix(viewer, agents, found.grants()),
            "form": form,
            "tested": tested,
            "can_grant": viewer.can("admin"),
        }
        return answer(request, "pages/scopes/index.html", context, 422 if form.errors else 200)


def _choices(agents: Sequence[Agent]) -> list[tuple[str, str]]:
    return [(show_id("agt", agent.id), f"{agent.name} ({agent.role})") for agent in agents]


def _tested(viewer: Viewer, form: AccessForm) -> dict[str, Any]:
    """The answer, in words that name the rule."""
    agent_id, verb = parse_id("agt", form.cleaned_data["agent"]), Verb(form.cleaned_data["verb"])
    where: str = form.cleaned_data["where"]
    status = ""
    if where.startswith("mem_"):
        memory = memory_with_key(parse_id("mem", where))
        if memory is None:
            form.add_error("where", _("There is no such memory in this tenant."))
            return {}
        where, status = memory.scope, memory.status
    try:
        told = access_explain(viewer.principal, agent_id, verb, parse_scope(where))
    except NotFound:
        form.add_error("agent", _("There is no such agent."))
        return {}
    agent = found.agent(agent_id)
    return {
        "allowed": told.allowed,
        "agent": agent.name,
        "verb": verb,
        "scope": where,
        "rule": said(told.rule),
        "by": told.grant.created_by if told.grant else "",
        "at": told.grant.created_at if told.grant else None,
        "whole_role": bool(told.grant and told.grant.agent_role),
        "paused": agent.paused_at is not None,
        "status": status if status not in ("", "live", "contested") else "",
        "grant_url": url(viewer, "scope-grant", who=show_id("agt", agent.id), pattern=where, **{str(verb): "on"}),
    }  # fmt: skip


def _tree(viewer: Viewer, q: str, kind: str) -> list[dict[str, Any]]:
    """Kinds from wide to narrow, each with its fullest scopes; sessions and tasks only on demand."""
    counts, branches = found.counts_by_kind(q), []
    for one in reversed(ScopeKind):
        if kind and one != kind:
            continue
        name = str(one)
        scopes, live = counts.get(name, (0, 0))
        folded = one in (ScopeKind.SESSION, ScopeKind.TASK) and not (kind or q)
        rows = [] if folded or not scopes else found.scopes_in_use(kind=name, q=q)
        branches.append(
            {
                "kind": name,
                "what": _what(one),
                "scopes": scopes,
                "live": live,
                "folded": folded and scopes > 0,
                "more": 0 if folded else scopes - len(rows),
                "url": url(viewer, "scopes", kind=name, q=q),
                "rows": [
                    {"name": row.name, "live": row.live, "url": url(viewer, "memories", scope=row.name)}
                    for row in rows
                ],
            }
        )
    return branches


def _what(kind: ScopeKind) -> str:
    """Who is there by default."""
    return {
        ScopeKind.GLOBAL: _("Every agent reads; orchestrators write and propose."),
        ScopeKind.SHARED: _("Every agent reads; orchestrators write and propose."),
        ScopeKind.PROJECT: _("Nobody without a grant."),
        ScopeKind.USER: _("Nobody without a grant."),
        ScopeKind.AGENT: _("The agents of that role read, write and propose."),
        ScopeKind.TASK: _("The agent that used it first."),
        ScopeKind.SESSION: _("The agent that used it first."),
    }[kind]


def _matrix(viewer: Viewer, agents: Sequence[Agent], grants: Sequence[Grant]) -> dict[str, Any]:
    """Holders down, patterns across: first the roles, then the agents with grants of their own."""
    patterns = ["global", "shared", *sorted({grant.pattern for grant in grants} - {"global", "shared"})]
    by_holder: dict[str, dict[str, Grant]] = {}
    for grant in grants:
        who = show_id("agt", grant.agent_id) if grant.agent_id else f"role:{grant.agent_role}"
        by_holder.setdefault(who, {})[grant.pattern] = grant
    roles = sorted(
        {agent.role for agent in agents} | {grant.agent_role for grant in grants if grant.agent_role}
    )
    rows = []
    for role in roles:
        defaults = {rule.pattern: {str(verb) for verb in rule.verbs} for rule in defaults_of(role)}
        rows.append(_row(viewer, f"role:{role}", role, patterns, by_holder, defaults) | {"is_role": True})
        for agent in agents:
            if agent.role == role:
                who = show_id("agt", agent.id)
                rows.append(_row(viewer, who, agent.name, patterns, by_holder, {}) | {"is_role": False})
    return {"patterns": patterns, "rows": rows}


def _row(
    viewer: Viewer, who: str, name: str, patterns: Sequence[str], by_holder: dict[str, dict[str, Grant]],
    defaults: dict[str, set[str]],
) -> dict[str, Any]:  # fmt: skip
    cells = []
    for pattern in patterns:
        grant = by_holder.get(who, {}).get(pattern)
        given = set(grant.verbs) if grant else set()
        inborn = defaults.get(pattern, set())
        cells.append(
            {
                "pattern": pattern,
                "verbs": [
                    {"verb": verb, "default": verb in inborn} for verb in _VERBS if verb in given | inborn
                ],
                "url": url(viewer, "scope-grant", who=who, pattern=pattern),
            }
        )
    return {"who": who, "name": name, "cells": cells}

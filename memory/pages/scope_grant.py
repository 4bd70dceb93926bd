"""Giving and taking a grant: first what it would change, then the change, bound to what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.domain.scopes import GrantRule, Verb
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, sentence, url
from memory.pages.scope_forms import GrantForm
from memory.selectors import pages_scopes as found
from memory.services.errors import Conflict, ServiceError
from memory.services.scope_access import Change, Effect, Holder, grant_change, grant_effect
from tenants.context import tenant_context
from tenants.models import Agent

MOST_NAMED = 10


@tenant_page("scopes", read="admin", write="admin")
def grant(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """GET asks and shows the effect; POST saves what was shown."""
    sent = request.POST if request.method == "POST" else request.GET
    with tenant_context(viewer.tenant.id):
        agents = found.agents()
    asks = request.method != "POST" and "check" not in sent
    form = GrantForm(
        None if asks else sent, agents=agents, initial=_present(viewer, agents, sent) if asks else None
    )
    if asks or not form.is_valid():
        return _page(request, viewer, form, None, status=200 if asks else 422)
    holder, rule = form.cleaned_data["who"], form.rule()
    if request.method != "POST":
        return _page(request, viewer, form, grant_effect(viewer.principal, holder, rule))
    try:
        grant_change(viewer.principal, holder, rule, sent.get("seal", ""))
    except Conflict as error:
        effect = grant_effect(viewer.principal, holder, rule)
        return _page(request, viewer, form, effect, error=sentence(error), status=409)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Saved. It holds from the next call on.") if rule.verbs else _("Taken away."))
    return SeeOther(url(viewer, "scopes"))


def _present(viewer: Viewer, agents: Sequence[Agent], sent: QueryDict) -> dict[str, Any]:
    """What the address names, with the verbs that the grant has now unless it names some."""
    who, pattern = sent.get("who", ""), sent.get("pattern", "")
    initial: dict[str, Any] = {"who": who, "pattern": pattern}
    agent = next((one for one in agents if show_id("agt", one.id) == who), None)
    role = who.removeprefix("role:") if who.startswith("role:") else ""
    if agent or role:
        with tenant_context(viewer.tenant.id):
            row = found.grant(agent.id if agent else None, role, pattern)
        initial |= {str(verb): True for verb in (row.verbs if row else [])}
    return initial | {str(verb): True for verb in Verb if str(verb) in sent}


def _page(
    request: HttpRequest, viewer: Viewer, form: GrantForm, effect: Effect | None, *, error: str = "",
    status: int = 200,
) -> HttpResponse:  # fmt: skip
    with tenant_context(viewer.tenant.id):
        scopes = [scope.name for scope in found.scopes_in_use()]
        context: dict[str, Any] = {"form": form, "effect": None, "scopes": scopes, "error": error}
        if effect is not None:
            context["effect"] = _effect(viewer, form.cleaned_data["who"], form.rule(), effect)
            context["hidden"] = [
                (name, value) for name, value in form.data.items() if name in GrantForm.base_fields
            ]
        return answer(request, "pages/scopes/grant.html", context, status)


def _effect(viewer: Viewer, holder: Holder, rule: GrantRule, effect: Effect) -> dict[str, Any]:
    return {
        "holder": holder.name,
        "is_role": bool(holder.role),
        "pattern": rule.pattern,
        "whole_kind": rule.pattern == "*" or rule.pattern.endswith(":*"),
        "before": sorted(effect.before),
        "after": sorted(rule.verbs),
        "same": effect.before == rule.verbs,
        "agents": effect.agents,
        "gains": [_change(viewer, one) for one in effect.gains],
        "losses": [_change(viewer, one) for one in effect.losses],
        "seal": effect.seal,
        "cut": effect.cut,
    }


def _change(viewer: Viewer, change: Change) -> dict[str, Any]:
    named = change.scopes[:MOST_NAMED]
    return {
        "agent": change.agent.name,
        "url": url(viewer, "agent", show_id("agt", change.agent.id)),
        "verb": str(change.verb),
        "paused": change.agent.paused_at is not None,
        "memories": change.memories,
        "scopes": len(change.scopes),
        "named": [
            {"name": one.name, "live": one.live, "url": url(viewer, "memories", scope=one.name)}
            for one in named
        ],
        "more": len(change.scopes) - len(named),
    }

"""Keys of agents: create, rotate, bind to networks, revoke.  A key's text is shown once, in the answer to the request
that made it, and never stored, logged or put into a URL."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.pages.access import Viewer, tenant_page
from memory.pages.agents import OVERLAP, agent_at, detail, key_shape
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.forms import KeyForm, NetworksForm, RotateForm
from memory.selectors import pages_agents as found
from memory.services import tenancy
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.tenancy import NewKey
from tenants.context import tenant_context
from tenants.models import Agent, AgentKey


@tenant_page("agents", read="admin", write="admin")
def one(request: HttpRequest, viewer: Viewer, item: str, key: str) -> HttpResponse:
    """One key; POST says from where it may be used."""
    agent = agent_at(viewer, item)
    row = _key_of(viewer, agent, key)
    form = NetworksForm(
        request.POST if request.method == "POST" else None, initial={"networks": " ".join(row.networks)}
    )
    if request.method == "POST" and form.is_valid():
        tenancy.key_networks_set(viewer.principal, row, form.cleaned_data["networks"])
        flash(request, _("Saved. It holds from the next call on."))
        return SeeOther(url(viewer, "agent-key", item, key))
    context = {
        "agent": {"id_text": item, "name": agent.name},
        "key": key_shape(row, clock.now()),
        "form": form,
        "rotate_form": RotateForm(auto_id="rotate-%s"),
    }
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/agents/key.html", context, 422 if form.errors else 200)


@tenant_page("agents", read=None, write="admin")
def create(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Make a key and show it, this once."""
    agent, form = agent_at(viewer, item), KeyForm(request.POST, auto_id="key-%s")
    if not form.is_valid():
        wrong = " ".join(str(error) for errors in form.errors.values() for error in errors)
        flash_error(request, _("Nothing was created: %(wrong)s") % {"wrong": wrong})
        return detail(request, viewer, agent, 422, key_form=form)
    made = tenancy.key_create(
        viewer.principal,
        agent,
        name=form.cleaned_data["name"],
        networks=form.cleaned_data["networks"],
        trust_ceiling=form.cleaned_data["trust_ceiling"],
        expires_at=form.expiry(clock.now()),
    )
    return _shown_once(request, viewer, agent, made)


@tenant_page("agents", read=None, write="admin")
def rotate(request: HttpRequest, viewer: Viewer, item: str, key: str) -> HttpResponse:
    """Make a successor; the old key works on for as long as was chosen, a day unless said otherwise."""
    form = RotateForm(request.POST)
    overlap = timedelta(hours=form.cleaned_data["overlap"]) if form.is_valid() else OVERLAP
    agent = agent_at(viewer, item)
    old = _key_of(viewer, agent, key)
    try:
        made = tenancy.key_rotate(viewer.principal, old, clock.now() + overlap)
    except Conflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "agent", item))
    except ServiceError as error:
        return raise_or_deny(error)
    return _shown_once(request, viewer, agent, made)


def _shown_once(request: HttpRequest, viewer: Viewer, agent: Agent, made: NewKey) -> HttpResponse:
    curl = f"curl {settings.PUBLIC_URL}/api/v1/whoami -H 'Authorization: Bearer {made.text}'"
    response = detail(request, viewer, agent, new_key=made.text, curl=curl)
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
def revoke(request: HttpRequest, viewer: Viewer, item: str, key: str) -> HttpResponse:
    """Ask, then end the key for good."""
    agent = agent_at(viewer, item)
    row, reason = _key_of(viewer, agent, key), request.POST.get("reason", "").strip()
    wrong = "" if request.method != "POST" or reason else _("Give a reason: it is kept in the audit.")
    if request.method == "POST" and reason:
        try:
            tenancy.key_revoke(viewer.principal, row, reason)
        except Invalid as error:
            wrong = sentence(error)
        else:
            flash(request, _("Revoked. Calls with it fail from now on."))
            return SeeOther(url(viewer, "agent", item))
    context = {
        "agent": {"id_text": item, "name": agent.name},
        "key": key_shape(row, clock.now()),
        "error": wrong,
        "reason": reason,
    }
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/agents/revoke.html", context, 422 if wrong else 200)

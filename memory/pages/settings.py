"""Settings of a tenant: its name and zone, how long things are kept, how many must agree, and its end."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.pages.access import Need, Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, sentence, url
from memory.pages.settings_forms import GeneralForm, RulesForm
from memory.selectors.pages_people import tenant_of
from memory.services import tenant_settings
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.policies import PolicyMoved
from tenants.context import tenant_context

# Pages that the settings lead to where they are installed: name, icon, what they are for, who may go there.
_ELSEWHERE: tuple[tuple[str, str, Any, Need], ...] = (
    ("policies", "adjustments", gettext_lazy("Policy"), "read"),
    ("alerts", "flag", gettext_lazy("Alerts and webhooks"), "read"),
    ("exports", "download", gettext_lazy("Exports"), "admin"),
    ("imports", "archive", gettext_lazy("Imports"), "admin"),
    ("audit", "history", gettext_lazy("Audit log"), "read"),
)


@tenant_page("settings", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """All sections; POST saves name and zone."""
    if request.method != "POST":
        return _page(request, viewer)
    form = GeneralForm(request.POST, auto_id="general-%s")
    if form.is_valid():
        try:
            tenant_settings.tenant_change(
                viewer.principal, form.cleaned_data["name"], form.cleaned_data["time_zone"]
            )
        except Invalid as error:
            form.add_error(error.field if error.field in form.fields else None, sentence(error))
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            flash(request, _("Saved."))
            return SeeOther(url(viewer, "settings"))
    return _page(request, viewer, general=form, status=422)


@tenant_page("settings", read=None, write="admin")
def rules(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Put the numbers in place as a new version of the policy, if the version that was seen is still in force."""
    form = RulesForm(request.POST, auto_id="rules-%s")
    if not form.is_valid():
        return _page(request, viewer, rules=form, status=422)
    with tenant_context(viewer.tenant.id):
        changed = form.changed_rules(viewer.policy().policy)
    try:
        made = tenant_settings.tenant_rules_change(
            viewer.principal, changed, form.cleaned_data["reason"], form.cleaned_data["active"]
        )
    except PolicyMoved as error:
        return _page(request, viewer, error=sentence(error), moved=error.changes, status=409)
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else None, sentence(error))
        return _page(request, viewer, rules=form, status=422)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Version %(n)d of the policy is in force.") % {"n": made.number})
    return SeeOther(url(viewer, "settings"))


@tenant_page("settings", read="owner", write="owner")
def delete(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Ask for the name, then begin the time of grace."""
    error = ""
    if request.method == "POST":
        try:
            tenant_settings.tenant_delete_ask(viewer.principal, request.POST.get("typed", ""))
        except Invalid as refused:
            error = sentence(refused)
        except ServiceError as refused:
            return raise_or_deny(refused)
        else:
            flash(request, _("The tenant will be deleted. Until then you can call it off."))
            return SeeOther(url(viewer, "settings"))
    with tenant_context(viewer.tenant.id):
        context = {"error": error, "typed": request.POST.get("typed", ""), "days": tenant_settings.GRACE.days}
        return answer(request, "pages/tenant_delete.html", context, 422 if error else 200)


@tenant_page("settings", read=None, write="owner")
def keep(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Call the deletion off."""
    try:
        tenant_settings.tenant_delete_call_off(viewer.principal)
    except Conflict as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        flash(request, _("Called off. The tenant stays."))
    return SeeOther(url(viewer, "settings"))


def _page(
    request: HttpRequest, viewer: Viewer, *, general: GeneralForm | None = None, rules: RulesForm | None = None,
    status: int = 200, **more: Any,
) -> HttpResponse:  # fmt: skip
    tenant = tenant_of(viewer.tenant.id)
    with tenant_context(viewer.tenant.id):
        active = viewer.policy()
        context = {
            "general": general
            or GeneralForm(
                initial={"name": tenant.name, "time_zone": tenant.time_zone}, auto_id="general-%s"
            ),
            "rules": rules
            or RulesForm(initial=RulesForm.of(active.policy, active.number), auto_id="rules-%s"),
            "time_zone": tenant.time_zone,
            "policy_version": active.number,
            "slug": tenant.slug,
            "handle": tenant.handle,
            "created_at": tenant.created_at,
            "deletes_at": tenant.deletes_at,
            "asked_by": tenant.deletion_asked_by,
            "is_owner": viewer.can("owner"),
            "elsewhere": _elsewhere(viewer),
            "error": "",
            **more,
        }
        return answer(request, "pages/settings.html", context, status)


def _elsewhere(viewer: Viewer) -> list[dict[str, str]]:
    links = []
    for name, icon, label, needs in _ELSEWHERE:
        if not viewer.can(needs):
            continue
        try:
            links.append({"url": url(viewer, name), "icon": icon, "label": str(label)})
        except NoReverseMatch:
            continue
    return links

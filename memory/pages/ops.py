"""Pages of operators: tenants and their sizes, without their contents; making one, closing one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.pages.access import denied_page, uncached
from memory.pages.answers import SeeOther, flash, flash_error, raise_or_deny, sentence
from memory.pages.forms import TenantForm
from memory.pages.queue import LONGEST_SEARCH
from memory.selectors import ops_tenants as found
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.invitations import Sent
from memory.services.operators import operator_tenant_create, operator_tenant_suspend
from tenants.models import User

View = Callable[..., HttpResponse]


def operator_page(view: View) -> View:
    """For operators only.  Others are told which role it takes."""

    @wraps(view)
    @login_required
    def guarded(request: HttpRequest, **ids: Any) -> HttpResponse:
        user = request.user
        if not isinstance(user, User) or not user.is_operator:
            return uncached(denied_page(_("operator of the installation")))
        return uncached(view(request, user, **ids))

    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@operator_page
def tenants(request: HttpRequest, operator: User) -> HttpResponse:
    """All tenants; POST makes one and invites its owner."""
    if request.method != "POST":
        return _page(request)
    form = TenantForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        try:
            sent = operator_tenant_create(operator, data["slug"], data["name"], data["owner"])
        except (Conflict, Invalid) as error:
            field = {"email": "owner"}.get(error.field or "", error.field or "slug")
            form.add_error(field if field in form.fields else None, sentence(error))
        else:
            return _made(request, sent)
    return _page(request, form=form, status=422)


def _made(request: HttpRequest, sent: Sent) -> HttpResponse:
    if sent.mailed:
        said = _("Made. The invitation of its owner went to %(email)s.")
        flash(request, said % {"email": sent.invitation.email})
        return SeeOther(reverse("pages:ops-tenants"))
    flash_error(request, _("Made, but no mail went out: hand the link over yourself."))
    return _page(request, link=sent.link, link_for=sent.invitation.email)


@require_http_methods(["POST"])
@operator_page
def suspend(request: HttpRequest, operator: User, slug: str) -> HttpResponse:
    """Close a tenant, or open it again."""
    suspended = request.POST.get("suspend") == "yes"
    try:
        operator_tenant_suspend(operator, slug, suspended, request.POST.get("reason", ""))
    except Invalid as error:
        return _page(request, error=sentence(error), status=422)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Suspended. Its pages and keys are closed.") if suspended else _("Open again."))
    return SeeOther(reverse("pages:ops-tenants"))


def _page(
    request: HttpRequest, *, form: TenantForm | None = None, status: int = 200, **more: Any
) -> HttpResponse:
    q = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    text = request.GET.get("page", "1")
    page = int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 6 else 1
    rows, total = found.tenants(q, max(page, 1))
    context = {
        "items": rows,
        "total": total,
        "q": q,
        "before": page - 1,
        "after": page + 1 if page * found.PAGE < total else 0,
        "form": form or TenantForm(),
        "error": "",
        "link": "",
        **more,
    }
    return render(request, "pages/ops_tenants.html", context, status=status)

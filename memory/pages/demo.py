"""The demo to try: one click, a copy of one's own, gone after a day."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth import logout
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.demo.sandbox import LASTS, sandbox_leave, sandbox_of, sandbox_open
from memory.pages.access import uncached
from memory.services.errors import Conflict
from tenants.models import Tenant, User
from tenants.networks import address_of

STARTS_AN_HOUR = 5
_HOUR = 3600


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    """What it is, or how far it is; POST starts one, anew if there is one already."""
    if not settings.MEMGOV_DEMO_SANDBOXES:
        raise Http404
    if request.method == "POST":
        return _start(request)
    return _page(request)


def _start(request: HttpRequest) -> HttpResponse:
    if not _may_start(request):
        error = _("That was often enough for one hour. Come back a little later.")
        return _page(request, error=error, status=429)
    if isinstance(request.user, User):
        sandbox_leave(request.user)
    try:
        visitor = sandbox_open()
    except Conflict:
        return _page(request, error=_("Every demo is taken just now. One is free within a day."), status=503)
    logout(request)
    return uncached(
        perform_login(request, visitor, email_verification="none", redirect_url=reverse("pages:demo"))
    )


def _may_start(request: HttpRequest) -> bool:
    """Counted by address; when the cache is away, only the number of demos limits."""
    address = address_of(str(request.META.get("REMOTE_ADDR", "")), request.headers.get("X-Forwarded-For", ""))
    key = f"demo-starts:{address}"
    cache.add(key, 0, _HOUR)
    try:
        return int(cache.incr(key) or 0) <= STARTS_AN_HOUR
    except ValueError:
        return True


def _page(request: HttpRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    mine = sandbox_of(request.user) if isinstance(request.user, User) else None
    context = {
        "mine": mine,
        "ready": mine is not None and mine.status == Tenant.Status.ACTIVE,
        "start_url": reverse("pages:start", args=[mine.slug]) if mine else "",
        "queue_url": reverse("pages:promotions", args=[mine.slug]) if mine else "",
        "hours": int(LASTS.total_seconds() // _HOUR),
        "error": error,
    }
    response = uncached(render(request, "pages/demo.html", context, status=status))
    if mine is not None and not context["ready"]:
        response["Refresh"] = "3"
    if status in (429, 503):
        response["Retry-After"] = str(_HOUR)
    return response

"""Pages outside a tenant: landing, help, the choice of a tenant, the theme, the language."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from memory.pages.access import role_label, uncached
from memory.pages.answers import SeeOther
from memory.pages.context import THEMES
from memory.selectors.pages_people import demo_is_loaded, tenants_of
from memory.services.accounts import language_choose
from tenants.models import User

ONE_YEAR = 31_536_000


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """What memgov is."""
    demo_url = reverse("account_login") if demo_is_loaded() and not request.user.is_authenticated else ""
    if settings.MEMGOV_DEMO_SANDBOXES:
        demo_url = reverse("pages:demo")
    context = {"demo_url": demo_url, "docs_url": reverse("api:docs")}
    return uncached(render(request, "pages/home.html", context))


@require_GET
def help_page(request: HttpRequest) -> HttpResponse:
    """Terms, roles, shortcuts."""
    return uncached(render(request, "pages/help.html"))


@require_GET
@login_required
def tenants(request: HttpRequest) -> HttpResponse:
    """Choose a tenant; a person with one is sent on."""
    assert isinstance(request.user, User)
    mine = tenants_of(request.user.id)
    addresses = [reverse("pages:start", args=[one.slug]) for one in mine]
    if len(mine) == 1:
        return uncached(SeeOther(addresses[0]))
    items = [
        {
            "name": one.name,
            "initial": one.initial,
            "url": at,
            "role_label": role_label(one.role),
            "waiting": 0,
        }
        for one, at in zip(mine, addresses, strict=True)
    ]
    return uncached(render(request, "pages/tenants.html", {"items": items}))


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember the colour theme and go back to where the form was."""
    response = _back(request)
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=ONE_YEAR, samesite="Lax", secure=request.is_secure())
    return uncached(response)


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Read on in this language: kept in the account of whoever is signed in, and in this browser for the rest."""
    response, chosen = _back(request), request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        if isinstance(request.user, User):
            language_choose(request.user, chosen)
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            chosen,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            samesite="Lax",
            secure=request.is_secure(),
        )
    return uncached(response)


def _back(request: HttpRequest) -> HttpResponse:
    """To the page that the form was on, if it is one of ours."""
    back = request.headers.get("Referer", "")
    parts = urlsplit(back)
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    path = "/" + parts.path.lstrip("/\\")  # "//host" would be another site
    path = f"{path}?{parts.query}" if parts.query else path
    return SeeOther(path if safe and back else reverse("pages:home"))
